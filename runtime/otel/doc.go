// Package otel sends what became of tool calls to an OpenTelemetry collector, as
// spans with the names of the semantic conventions for generative AI.
//
// A call is a span execute_tool, with a child for the governor's decision, whose
// events are the steps, one for the run of the tool, and one for the last step,
// which sanitizes the output. Calls that code makes are children of its run. No span holds
// results or words of a tool's own: there is no field for them. Arguments are there
// if the caller of this package hands them over, who has to clean them.
//
// Sending never holds a call up. Spans wait in a bounded queue; those for which
// there is no room, or which the collector does not take, are counted and lost.
package otel
