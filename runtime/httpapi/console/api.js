// The token is in this tab's session storage, and in the header of requests.
const key = "mayfly-token";

export const token = () => sessionStorage.getItem(key) ?? "";
export const keep = (value) => (value ? sessionStorage.setItem(key, value) : sessionStorage.removeItem(key));

function headers(more) {
  return token() ? { Authorization: "Bearer " + token(), ...more } : more;
}

// ask sends a request. text is the answer as it came: numbers in it have all
// their digits.
export async function ask(path, body) {
  const options = { headers: headers({}), credentials: "omit", redirect: "error" };
  if (body !== undefined) {
    options.method = "POST";
    options.headers["Content-Type"] = "application/json";
    options.body = typeof body === "string" ? body : JSON.stringify(body);
  }
  const response = await fetch(path, options);
  const text = await response.text();
  let data = {};
  try { data = JSON.parse(text); } catch { /* not for us */ }
  return { status: response.status, ok: response.ok, data, text, problem: data.detail ?? data.reason ?? response.statusText };
}

// follow calls each for every note of the trace, until signal ends it; a stream
// that breaks goes on where it was.
export async function follow(each, state, signal) {
  let last = "";
  while (!signal.aborted) {
    try {
      const response = await fetch("v1/trace?recent=200", { headers: headers(last ? { "Last-Event-ID": last } : {}), credentials: "omit", signal });
      if (!response.ok) { state("no trace: " + response.status); return; }
      state("live");
      const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
      for (let buffer = ""; ;) {
        const { value, done } = await reader.read();
        if (done) break;
        buffer += value;
        for (let end; (end = buffer.indexOf("\n\n")) >= 0; buffer = buffer.slice(end + 2)) {
          const event = { data: "" };
          for (const line of buffer.slice(0, end).split("\n")) {
            const colon = line.indexOf(": ");
            if (colon > 0) event[line.slice(0, colon)] = line.slice(colon + 2);
          }
          if (event.id) last = event.id;
          if (event.event === "note") each(JSON.parse(event.data));
          else if (event.event) state(event.event);
        }
      }
    } catch (error) {
      if (signal.aborted) return;
    }
    state("broken; trying again");
    await new Promise((resolve) => setTimeout(resolve, 2000));
  }
}
