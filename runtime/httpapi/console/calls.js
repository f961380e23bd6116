// The latest calls, put together from the notes of the trace: one note has the
// decision, a later one how the tool ended.
const most = 300;

export class Calls {
  list = []; // the newest first
  #open = new Map(); // calls that have been decided, by run and call

  // add takes a note, and gives the call that it is about.
  add(note) {
    const key = note.run + "\n" + note.call;
    let call = this.#open.get(key);
    if (note.name === "harness.governor" || !call) {
      call = { run: note.run, id: note.call, tool: note.tool, time: note.time };
      this.#open.set(key, call);
      this.list.unshift(call);
      for (const old of this.list.splice(most)) {
        const k = old.run + "\n" + old.id;
        if (this.#open.get(k) === old) this.#open.delete(k);
      }
    }
    if (note.name === "harness.governor") call.decided = note;
    else call.ended = note;
    return call;
  }

  clear() {
    this.list = [];
    this.#open.clear();
  }
}

// outcome is where a call stands, in a word.
export function outcome(call) {
  return call.ended?.outcome ?? (call.decided?.outcome === "allow" ? "running" : call.decided?.outcome ?? "running");
}
