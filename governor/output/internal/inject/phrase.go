package inject

import (
	"maps"
	"strings"
)

// phrase is an order as a row of places. Each place takes words of its set.
type phrase struct {
	places    []place
	negatable bool // "never …" is a warning
}

type place struct {
	words    map[string]bool // nil: any word
	min, max int
}

// match gives how many words of the clause the phrase takes, from the first on; 0 if it
// does not fit. A place with a choice takes as few words as it can. Words are
// at most ahead, places few, so the work is bounded.
func (p *phrase) match(c *clause) int { return matchPlaces(p.places, c, 0) }

func matchPlaces(places []place, c *clause, at int) int {
	if len(places) == 0 {
		return at
	}
	p := places[0]
	for n := 0; n <= p.max; n++ {
		if n >= p.min {
			if end := matchPlaces(places[1:], c, at+n); end > 0 {
				return end
			}
		}
		if n == p.max || !c.has(at+n) || p.words != nil && !p.words[c.lower[at+n]] {
			return 0
		}
	}
	return 0
}

// compile reads phrases, one a line, and gives them by their first word. A word, or words with | between them, is
// one place. In front of it ? makes it optional, * lets up to five words of it
// stand there; ~ is up to four words of any kind, and $name a set. A line that
// starts with ! is not an order when it is negated.
func compile(text string) map[string][]*phrase {
	sets := make(map[string]map[string]bool)
	index := make(map[string][]*phrase)
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		if name, list, ok := strings.Cut(line, "="); ok {
			sets[strings.TrimSpace(name)] = set(list)
			continue
		}
		p := &phrase{}
		line, p.negatable = strings.CutPrefix(line, "!")
		for field := range strings.FieldsSeq(line) {
			p.places = append(p.places, compilePlace(field, sets))
		}
		for w := range p.places[0].words {
			index[w] = append(index[w], p)
		}
	}
	return index
}

func compilePlace(field string, sets map[string]map[string]bool) place {
	p := place{min: 1, max: 1}
	switch field[0] {
	case '~':
		return place{max: 4}
	case '?':
		p.min, field = 0, field[1:]
	case '*':
		p.min, p.max, field = 0, 5, field[1:]
	}
	p.words = make(map[string]bool)
	for part := range strings.SplitSeq(field, "|") {
		if !strings.HasPrefix(part, "$") {
			p.words[lookup([]byte(part))] = true
			continue
		}
		if sets[part] == nil {
			panic("BUG(mayfly): no set " + part)
		}
		maps.Copy(p.words, sets[part])
	}
	return p
}

const english = `
$small    = about all any the of these those this that my our your every everything and or other to from in on it its which were was have been has
$what     = instructions instruction prompt prompts directions directives guidelines rules commands orders constraints guardrails restrictions safeguards programming context
$mine     = instructions instruction prompt prompts directives guidelines guardrails restrictions programming filters safeguards
$before   = previous prior above earlier preceding foregoing past former
$inner    = system hidden initial original secret internal developer confidential
$adjusted = helpful unrestricted new different evil malicious unfiltered uncensored rogue powerful autonomous ai language virtual jailbroken
$ai       = ai llm assistant model chatbot agent gpt bot
$bot      = ai llm llms chatbot chatbots chatgpt gpt
$verbatim = the your full entire complete exact all of verbatim word for text content contents wording
$whole    = system hidden initial original secret internal developer confidential full entire complete whole exact current
$show     = reveal print show repeat output display leak expose disclose tell give share dump recite echo send write
$out      = reveal print repeat output leak expose disclose dump recite echo
$loot     = password passwords credentials secrets conversation tokens cookies prompt inbox history
$owner    = the all your our any of me us stored saved whole full entire user's users
$nofill   = ethical content safety moral more longer any

!ignore|disregard|forget|discard|dismiss|override *$small $before ?and ?$small ?system *$what $what
!ignore|disregard|forget|discard|dismiss|override *$small $what *$small above|previously|earlier
!ignore|disregard|forget|bypass|override|disable your *$inner ?safety ?content ?ethical ?security $mine
!cancel|abandon|erase|revoke|neglect *$small $before ?and ?$small ?system instructions|instruction|prompt|prompts|directives|guidelines
!forget|erase *$small $before conversation|conversations|chat
!ignore|disregard|forget *$small system|developer|original|initial ?and ?safety ?system $mine
!ignore|disregard|forget everything|anything|all *$small above|previous|prior|earlier
!ignore|disregard|forget everything|anything|all *$small before this|now
!forget|disregard|ignore everything|anything|all ?that you|you've|we've|we were|have|been ?been told|taught|instructed
!ignore|disregard all|any ?of ?the ?your instructions|prompts|guidelines|directives
!ignore|disregard|forget ?all ?of ?the above and|instead|then|but
!ignore|disregard|forget ?all what|whatever you|you've ?were ?have ?been told|instructed|given
!ignore|disregard|bypass|disable all|any|every ?of ?the ?your safety|content|ethical rules|guidelines|filters|restrictions|policies|protocols|guardrails
!override|bypass *$small system|developer prompt|prompts|instructions|message
your new instructions|directive|directives|orders is|are
your real|true|actual instructions|task|goal|objective|mission is|are
stop following *$small $inner|your $mine
don't|dont follow|obey *$small $inner|your|previous|prior *$inner $mine
do not follow|obey *$small $inner|your|previous|prior *$inner $mine
pay no attention to *$small $before|your $what

you are now ?a|an|the ?in ?called *$adjusted dan|jailbroken|unrestricted|unfiltered|uncensored
you're now ?a|an|the ?in ?called *$adjusted dan|jailbroken|unrestricted|unfiltered|uncensored
you are now ?in dan|jailbreak|unrestricted mode
you're now ?in dan|jailbreak|unrestricted mode
you are now a|an *$adjusted $ai
you're now a|an *$adjusted $ai
you are no longer a|an *$adjusted $ai
you are a|an *$adjusted unrestricted|unfiltered|uncensored|jailbroken|evil|malicious|rogue *$adjusted $ai
you are a|an ~ with no *$nofill rules|restrictions|guidelines|filters
answer|respond|reply ?to ?everything|anything without *$nofill restrictions|filters|censorship|guidelines
you are no longer bound|restricted|limited by ~ rules|guidelines|restrictions|policies|instructions|programming
you have no *$nofill restrictions|guidelines|filters|guardrails
act|behave|respond as ?if ?you ?are ?a|an|the unrestricted|unfiltered|uncensored|jailbroken|evil|dan
pretend ?to ?be ?that ?you ?are|have ?a|an|no dan|unrestricted|jailbroken|restrictions|guidelines|unfiltered|uncensored
from now on you ~ ignore|obey|comply|dan|unrestricted|jailbroken
from this point|moment on|forward|onwards ?on you ~ ignore|obey|comply|dan|unrestricted|jailbroken
from now on you will|must|are ?only|always|to ?only respond|answer|reply|act
enter|enable|activate|switch ?to ?into dan|jailbreak|unrestricted mode

!$show ?me ?us ?back ?out *$verbatim your *$inner $inner prompt|prompts|instructions|message|messages|directives|configuration
!$show ?me ?us ?back ?out *$verbatim system|hidden|secret|initial|developer prompt|prompts
what|what's ?is ?are ?was ?were your *$inner $inner prompt|instructions|message|rules
!give|tell|show me *$verbatim your *$whole instructions|prompt|prompts|directives|guidelines
!$show ?me ?us *$verbatim hidden|secret instructions
!$out ?me ?us ?back ?out *$verbatim your *$whole prompt|instructions|guidelines|directives
!$out ?me ?us *$verbatim your ?stored ?saved api|private|secret|access key|keys|token|tokens
!$out ?me ?us *$verbatim your ?stored ?saved ?api passwords|credentials
!repeat|print|output|echo *$verbatim words|text|everything above ?starting ?verbatim

important|new|updated|special|urgent|secret|hidden instruction|instructions|message|note|notice for|to ?the ?any ?all ?an ?reading $bot
instruction|instructions|message|note|notice|attention|memo for|to ?the ?any ?all ?an $bot ?assistant|model|agent|assistants|models|agents
instruction|instructions|message|note|notice for|to ?the ?any ?all ?an ?large language model|models
attention|hey|dear ?all $bot ?assistant ?model|models ~ must|please|ignore|do|send|reply|respond|include|you
if|when you|you're ?are ?an|a|the $bot ?assistant ?model ?or ?assistant ?agent ~ must|please|ignore|reply|respond|include|recommend|say|write|send|stop|output
if|when you|you're ?are ?an|a|the ?ai ?large language model ~ must|please|ignore|reply|respond|include|recommend|say|write|send|stop|output
as an|the $bot ?language ?assistant ?model ?assistant you ?must ~ must|should|ignore|reply|respond|include|recommend|say|write|send|now
ai|llm assistant|model|agent ?please forward|send|ignore|approve|delete|transfer|execute|reveal|reply|respond
ai|llm|llms|chatbot|chatgpt ?assistant|assistants|model|models|agent|agents|systems reading|processing|summarizing|parsing this
ai|llm|llms ?assistant|assistants|model|models|agent|agents must respond|reply|answer with
ai|llm|llms ?assistant|assistants|model|models|agent|agents must say|output|approve|forward|send
$bot ?assistant ?model ?agents you must|should|shall|will ?now ~ ignore|obey|send|reply|respond|include|recommend|call|execute|forward

!send|forward|email|post|upload|exfiltrate|transmit|submit|leak *$owner ~ $loot ~ to|at http|https|www|attacker|attacker's|evil|email
!send|forward|email|post|upload|exfiltrate|transmit|submit|leak *$owner api|private|access key|keys|token|tokens ~ to|at http|https|www|attacker|attacker's|evil|email
!exfiltrate *$owner ~ $loot|data|files|keys
do not|never tell|inform ?this ?to the|your user|users|human|operator
don't|dont|never tell|inform the|your user|users|human|operator
do not|never mention|reveal|disclose|say ?of ?about ?this|that|it|anything ?about ?this to the|your user|users|human
don't|dont|never mention|reveal|disclose ?this|that|it|anything to the|your user|users|human
do not let the user|users|human know
without telling|informing|alerting the user|users|human
sag|sage|sagen|verrate|verraten ?sie ?es ?das dem nutzer|benutzer|anwender ?davon nicht|nichts
ne dis|dites|disvous|révèle|révélez ?rien ?pas ?cela à l'utilisateur
no digas|diga|reveles|informes ?nada ?esto al usuario
não diga|conte|revele ?nada ?isso ao usuário|utilizador
не говори|говорите|сообщай|сообщайте|рассказывай|рассказывайте ?ничего ?об ?этом пользователю|пользователям
`
