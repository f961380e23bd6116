package inject

import (
	"bytes"
)

// lineStart reports whether i is where a line begins.
func lineStart(text []byte, i int) bool { return i == 0 || text[i-1] == '\n' || text[i-1] == '\r' }

// speakers are who a line can pretend to come from.
var speakers = map[string]bool{
	"system": true, "assistant": true, "developer": true, "human": true, "user": true, "ai": true, "instruction": true,
	"instructions": true, "response": true, "input": true,
}

// onlyHeaded are those that begin too many honest lines to count without a
// heading's marks.
var onlyHeaded = map[string]bool{"instruction": true, "instructions": true, "response": true, "input": true}

// headings are lines that nobody but an attacker writes, whatever follows.
var headings = map[string]bool{
	"system prompt": true, "system message": true, "system override": true, "system instruction": true, "system instructions": true,
	"system note": true, "developer message": true, "developer instructions": true, "assistant instructions": true, "admin override": true,
	"new system prompt": true, "new instructions": true, "updated instructions": true, "new system instructions": true,
	"ai instructions": true, "instructions for ai": true, "instructions for the ai": true, "instructions for the assistant": true,
	"instructions to the ai": true, "instructions to the assistant": true, "instructions to the model": true, "hidden instructions": true,
	"begin system prompt": true, "end system prompt": true, "end of prompt": true, "begin new instructions": true,
}

// maxHeading is how long the line in front of its colon can be.
const maxHeading = 60

// role takes the marker with which the line at i pretends to be someone else's:
// "### System:", "[SYSTEM]", "system prompt:". A lone "System:" begins many
// honest lines; it counts if what follows talks to a model. So does "User:".
// "Human:" and "Assistant:" count after an empty line, where one model family
// expects them.
func role(text []byte, i int) int {
	line := text[i:min(len(text), i+maxHeading)]
	if n := bytes.IndexByte(line, '\n'); n >= 0 {
		line = line[:n]
	}
	deco := len(line) - len(bytes.TrimLeft(line, "#*[<>{-=_ \t(/"))
	head := line[deco:]
	n := 0
	for n < len(head) && (head[n] >= 'a' && head[n] <= 'z' || head[n] == ' ' || head[n] == '_') {
		n++
	}
	name := string(bytes.Join(bytes.FieldsFunc(head[:n], func(r rune) bool { return r == ' ' || r == '_' }), []byte(" ")))
	if !speakers[name] && !headings[name] {
		return 0
	}
	tail := head[n:]
	closing := len(tail) - len(bytes.TrimLeft(tail, "]*>})#=-_ \t"))
	colon := closing < len(tail) && tail[closing] == ':' || bytes.IndexByte(tail[:closing], ':') >= 0
	end := i + deco + n + closing
	if colon {
		end++
		for end < len(text) && (text[end] == '*' || text[end] == '_') {
			end++
		}
	}
	opened := bytes.TrimSpace(line[:deco])
	switch {
	case headings[name] && (colon || len(opened) > 0 && closing > 0):
		return end
	case colon && bytes.HasPrefix(opened, []byte("##")) && name != "ai":
		return end
	case bytes.HasSuffix(opened, []byte("[")) && closing > 0 && (name == "system" || name == "assistant" || name == "developer") && addressed(text, end):
		return end
	case !colon:
		return 0
	case (name == "human" || name == "assistant") && len(opened) == 0 && emptyLineBefore(text, i):
		return end
	case !onlyHeaded[name] && addressed(text, end):
		return end
	}
	return 0
}

func emptyLineBefore(text []byte, i int) bool {
	return bytes.HasSuffix(text[:i], []byte("\n\n")) || bytes.HasSuffix(text[:i], []byte("\n\r\n"))
}

// cues are words with which a model is talked to.
var cues = set(`ignore disregard forget override obey comply pretend instruction instructions prompt jailbreak jailbroken
	unrestricted reveal exfiltrate assistant chatbot`)

// maxCue is how far behind a marker a cue counts.
const maxCue = 160

// addressed reports whether the line that goes on at i talks to a model: a cue,
// or "you" followed by what it is or must do.
func addressed(text []byte, i int) bool {
	line := text[i:min(len(text), i+maxCue)]
	if n := bytes.IndexByte(bytes.TrimLeft(line, "\r\n \t"), '\n'); n >= 0 {
		line = line[:len(line)-len(bytes.TrimLeft(line, "\r\n \t"))+n]
	}
	last := ""
	for at := 0; at < len(line); {
		end := wordEnd(line, at)
		if end == at {
			at++
			continue
		}
		w := string(line[at:end])
		if cues[w] || last == "you" && (w == "are" || w == "must" || w == "will" || w == "should" || w == "now" || w == "shall") {
			return true
		}
		last, at = w, end
	}
	return false
}
