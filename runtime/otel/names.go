package otel

import "go.opentelemetry.io/otel/attribute"

// schemaURL is the version of the semantic conventions that the names are of: the
// last one that had gen_ai.*, before they moved to a repository of their own.
const schemaURL = "https://opentelemetry.io/schemas/1.41.0"

// Names of the semantic conventions. Their Go packages come with the rest of each
// version, and no later one has these.
const (
	operationName = attribute.Key("gen_ai.operation.name")
	toolName      = attribute.Key("gen_ai.tool.name")
	toolType      = attribute.Key("gen_ai.tool.type")
	toolCallID    = attribute.Key("gen_ai.tool.call.id")
	// toolCallArguments is one that the conventions leave out unless somebody opts in.
	toolCallArguments = attribute.Key("gen_ai.tool.call.arguments")
	conversationID    = attribute.Key("gen_ai.conversation.id")
	agentID           = attribute.Key("gen_ai.agent.id")
	errorType         = attribute.Key("error.type")
	serviceName       = attribute.Key("service.name")
	serviceVersion    = attribute.Key("service.version")
)

// executeTool is the operation.
const executeTool = "execute_tool"

// Types of tools, in the words of the conventions.
const (
	typeFunction  = "function"
	typeExtension = "extension" // leads to somebody else's service
)

// Names of Mayfly's own.
const (
	outcome       = attribute.Key("mayfly.outcome")
	decision      = attribute.Key("mayfly.decision")
	step          = attribute.Key("mayfly.step")
	code          = attribute.Key("mayfly.code")
	took          = attribute.Key("mayfly.took_us")
	tenant        = attribute.Key("mayfly.tenant")
	task          = attribute.Key("mayfly.task")
	transport     = attribute.Key("mayfly.transport")
	sandboxKind   = attribute.Key("mayfly.sandbox")
	sideEffect    = attribute.Key("mayfly.side_effect")
	risk          = attribute.Key("mayfly.risk")
	toolVersion   = attribute.Key("mayfly.tool.version")
	label         = attribute.Key("mayfly.output.label")
	truncated     = attribute.Key("mayfly.output.truncated")
	redacted      = attribute.Key("mayfly.output.redacted")
	runLabels     = attribute.Key("mayfly.run.labels")
	approval      = attribute.Key("mayfly.approval.id")
	repeated      = attribute.Key("mayfly.repeated")
	missingLayers = attribute.Key("mayfly.missing_layers")
	fuel          = attribute.Key("mayfly.usage.fuel")
	cpu           = attribute.Key("mayfly.usage.cpu_us")
	queued        = attribute.Key("mayfly.usage.queued_us")
	wall          = attribute.Key("mayfly.usage.wall_us")
	peakMemory    = attribute.Key("mayfly.usage.peak_memory_bytes")
	outputBytes   = attribute.Key("mayfly.usage.output_bytes")
	valueBytes    = attribute.Key("mayfly.usage.value_bytes")
	hostCalls     = attribute.Key("mayfly.usage.host_calls")
)

// Names of the other spans and of events.
const (
	spanGovernor = "governor"
	spanOutput   = "output"
	eventStep    = "mayfly.governor.step"
)
