// Calls Mayfly's tools: lists them, calls one, approves one, gives one up.
//
//   node client.mjs mayfly mcp --principal agent --approver ann --approver-role finance
//   node client.mjs http://127.0.0.1:8080/mcp        (MAYFLY_TOKEN has the bearer token)
//
// It prints a line of JSON for each step. The tools are those of ../harness.

import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { ElicitRequestSchema } from "@modelcontextprotocol/sdk/types.js";

const [target, ...args] = process.argv.slice(2);
const print = (step, what) => console.log(JSON.stringify({ step, ...what }));

function transport() {
  if (!/^https?:/.test(target)) {
    return new StdioClientTransport({ command: target, args, env: process.env, stderr: "inherit" });
  }
  const token = process.env.MAYFLY_TOKEN;
  const headers = token ? { Authorization: `Bearer ${token}` } : {};
  return new StreamableHTTPClientTransport(new URL(target), { requestInit: { headers } });
}

const client = new Client({ name: "example", version: "1.0.0" }, { capabilities: { elicitation: {} } });

// A person would be shown the message, and a form made of requestedSchema.
client.setRequestHandler(ElicitRequestSchema, async ({ params }) => {
  print("asked", { message: params.message });
  return { action: "accept", content: { decision: "approve", reason: "seen" } };
});

await client.connect(transport());

const { tools } = await client.listTools();
print("tools", { names: tools.map((t) => t.name), readOnly: tools.filter((t) => t.annotations.readOnlyHint).map((t) => t.name) });

const sum = await client.callTool({ name: "python", arguments: { code: "sum(r['n'] for r in rows)", rows: [{ n: 2 }, { n: 40 }] } });
print("called", { result: sum.structuredContent });

const refused = await client.callTool({ name: "python", arguments: { rows: [] } });
print("refused", { isError: refused.isError, outcome: refused.structuredContent.outcome, next: refused.structuredContent.next });

const paid = await client.callTool({ name: "pay", arguments: { to: "Zoë", usd: 500 } });
print("approved", { isError: paid.isError ?? false, result: paid.structuredContent });

const told = new AbortController();
const spinning = client.callTool({ name: "python", arguments: { code: "while True: pass" } }, undefined, {
  signal: told.signal,
  onprogress: () => told.abort("seen enough"), // it runs: now give it up
});
const ended = await spinning.then(() => "answered", (e) => String(e.message ?? e));
print("cancelled", { ended });

await client.close();
