package inject

import "bytes"

// tokens are control tokens of chat templates that have no other use, as they
// are in the view.
var tokens = map[byte][]string{
	'<': {
		"<<sys>>", "<</sys>>", "<<system>>", "<</system>>", "<start_of_turn>", "<end_of_turn>", "<start_of_image>", "<bos>", "<eos>",
		"<tool_call>", "</tool_call>", "<tool_response>", "</tool_response>", "<tool_calls>", "</tool_calls>",
		"<function_calls>", "</function_calls>", "<function_results>", "</function_results>",
		"<system-reminder>", "</system-reminder>", "<system_reminder>", "</system_reminder>",
		"<system_prompt>", "</system_prompt>", "<system-prompt>", "</system-prompt>",
		"<developer_message>", "</developer_message>", "<assistant_response>", "</assistant_response>",
	},
	'[': {
		"[inst]", "[/inst]", "[sys]", "[/sys]", "[system_prompt]", "[/system_prompt]", "[available_tools]", "[/available_tools]",
		"[tool_calls]", "[/tool_calls]", "[tool_results]", "[/tool_results]", "[tool_content]", "[/tool_content]",
	},
}

// maxToken is how long the name in <|name|> can be.
const maxToken = 48

// token gives where the control token that starts at i ends; 0 if there is none.
func token(text []byte, i int) int {
	c := text[i]
	if c != '<' && c != '[' {
		return 0
	}
	for _, t := range tokens[c] {
		if hasSpaced(text, i, t) {
			return i + spacedLen(text, i, t)
		}
	}
	if c == '[' {
		return 0
	}
	if end := barred(text, i); end > 0 {
		return end
	}
	return sentence(text, i)
}

// hasSpaced reports whether token stands at i, if need be with spaces inside of
// its brackets.
func hasSpaced(text []byte, i int, token string) bool { return spacedLen(text, i, token) > 0 }

func spacedLen(text []byte, i int, token string) int {
	j := i
	for k := 0; k < len(token); k++ {
		edge := k > 0 && (token[k] == '>' || token[k] == ']' || token[k] == '/' || token[k-1] == '<' || token[k-1] == '[' || token[k-1] == '/')
		for n := 0; edge && n < 3 && j < len(text) && text[j] == ' ' && token[k] != ' '; n++ {
			j++
		}
		if j >= len(text) || text[j] != token[k] {
			return 0
		}
		j++
	}
	return j - i
}

// barred takes <|im_start|> and every other name between <| and |>.
func barred(text []byte, i int) int {
	bar := i + 1
	for bar < len(text) && bar < i+3 && text[bar] == ' ' {
		bar++
	}
	if bar >= len(text) || text[bar] != '|' {
		return 0
	}
	window := text[bar+1 : min(len(text), bar+1+maxToken)]
	n := bytes.IndexByte(window, '|')
	if n <= 0 {
		return 0
	}
	end := bar + 1 + n + 1
	for end < len(text) && end < bar+n+4 && text[end] == ' ' {
		end++
	}
	if end >= len(text) || text[end] != '>' {
		return 0
	}
	apart := bar > i+1 || text[end-1] == ' '
	name := bytes.ReplaceAll(window[:n], []byte("▁"), []byte("_"))
	known := bytes.TrimSpace(name)
	for _, c := range known {
		if !(c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '_' || c == '-' || c == '/' || c == '.' || c == ':') {
			return 0
		}
	}
	// With spaces around the name it may be code: x <| f |> y.
	if len(known) == 0 || (apart || len(known) < len(name)) && !spacedNames[string(known)] {
		return 0
	}
	return end + 1
}

var spacedNames = map[string]bool{
	"im_start": true, "im_end": true, "im_sep": true, "endoftext": true, "eot_id": true, "eom_id": true,
	"begin_of_text": true, "end_of_text": true, "start_header_id": true, "end_header_id": true,
	"system": true, "assistant": true, "user": true, "end": true, "fim_prefix": true, "fim_middle": true, "fim_suffix": true,
}

// sentence takes <s> and </s> beside an instruction token; alone they are HTML.
func sentence(text []byte, i int) int {
	rest := text[i:min(len(text), i+24)]
	for _, tag := range []string{"<s>", "</s>"} {
		after, ok := bytes.CutPrefix(rest, []byte(tag))
		if !ok {
			continue
		}
		after = bytes.TrimLeft(after, " \n")
		if bytes.HasPrefix(after, []byte("[inst]")) || bytes.HasPrefix(after, []byte("<s>")) && tag == "</s>" {
			return i + len(tag)
		}
	}
	return 0
}
