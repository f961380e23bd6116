import { read } from "./json.js";

// The token is in this tab's session storage, and in the header of requests.
const key = "mayfly-token";

export const token = () => sessionStorage.getItem(key) ?? "";
export const keep = (value) => (value ? sessionStorage.setItem(key, value) : sessionStorage.removeItem(key));

// refused is called when the server does not take the token.
let refused = () => {};
export const onRefused = (f) => (refused = f);

const headers = (more) => (token() ? { Authorization: "Bearer " + token(), ...more } : more);

// ask sends a request, with a body that is a value or JSON text. Whatever is
// wrong, the connection included, is in problem, as words for people.
export async function ask(path, body, signal) {
  const options = { headers: headers({}), credentials: "omit", redirect: "error", cache: "no-store", signal };
  if (body !== undefined) {
    options.method = "POST";
    options.headers["Content-Type"] = "application/json";
    options.body = typeof body === "string" ? body : JSON.stringify(body);
  }
  let response, text;
  try {
    response = await fetch(path, options);
    text = await response.text();
  } catch (error) {
    return { status: 0, ok: false, data: {}, problem: signal?.aborted ? "This was given up." : "The server does not answer." };
  }
  if (response.status === 401) refused();
  let data;
  try { data = read(text); } catch (error) {
    return { status: response.status, ok: false, data: {}, problem: "The answer cannot be read: " + (error.message || response.statusText) };
  }
  const problem = [data?.detail ?? data?.reason ?? response.statusText, data?.where && `(${data.where})`].filter(Boolean).join(" ");
  return { status: response.status, ok: response.ok, data: data ?? {}, problem };
}

// follow calls each for every note of the trace until signal ends it, and state
// with live, broken, gap or refused. A stream that breaks goes on where it was.
export async function follow(each, state, signal) {
  let last = "";
  for (let wait = 500; !signal.aborted; wait = Math.min(wait * 2, 8000)) {
    try {
      const response = await fetch("v1/trace?recent=200", {
        headers: headers(last ? { "Last-Event-ID": last } : {}), credentials: "omit", cache: "no-store", signal,
      });
      if (response.status === 401) { refused(); return; }
      if (response.status === 404) { state("none"); return; }
      if (response.ok) {
        state("live");
        wait = 500;
        await events(response, (event) => {
          if (event.id) last = event.id;
          if (event.event === "note") each(read(event.data));
          else if (event.event) state("gap");
        });
      }
    } catch (error) {
      if (signal.aborted) return;
    }
    if (signal.aborted) return;
    state("broken");
    await new Promise((resolve) => setTimeout(resolve, wait));
  }
}

// events reads server-sent events.
async function events(response, each) {
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  for (let buffer = ""; ;) {
    const { value, done } = await reader.read();
    if (done) return;
    buffer += value;
    for (let end; (end = buffer.indexOf("\n\n")) >= 0; buffer = buffer.slice(end + 2)) {
      const event = { data: "" };
      for (const line of buffer.slice(0, end).split("\n")) {
        const colon = line.indexOf(": ");
        if (colon > 0) event[line.slice(0, colon)] = line.slice(colon + 2);
      }
      each(event);
    }
  }
}
