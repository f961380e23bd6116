package inject

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// A language holds what "ignore the instructions you had" is made of elsewhere:
// the verb as an order, which instructions (the previous ones), and what
// (instructions). The last two are stems, as endings differ.
type language struct {
	verbs map[string]bool
	which stems
	what  stems
}

type stems []string

func (s stems) has(word string) bool {
	for _, stem := range s {
		if strings.HasPrefix(word, stem) {
			return true
		}
	}
	return false
}

// newLanguage takes the name of the language only for who reads the list.
func newLanguage(_, verbs, which, what string) *language {
	l := &language{verbs: set(verbs)}
	for w := range set(which) {
		l.which = append(l.which, w)
	}
	for w := range set(what) {
		l.what = append(l.what, w)
	}
	return l
}

// spaced are the languages that put spaces between words.
var spaced = []*language{
	newLanguage("de", `ignoriere ignoriert ignorieren ignorier vergiss vergesst missachte`,
		`vorherig vorig bisherig obig früher vorangegangen vorstehend alle`, `anweisung instruktion befehl vorgab regeln prompt`),
	newLanguage("fr", `ignore ignorez ignorer oublie oubliez`,
		`précédent antérieur dessus préalable toutes tous`, `instruction consigne directive ordres règles`),
	newLanguage("es", `ignora ignore ignorad ignorar olvida olvide olvidar`,
		`anterior previ precedent todas todos`, `instruccion indicacion orden directriz directric reglas`),
	newLanguage("pt", `ignore ignora ignorem esqueça esquece desconsidere`,
		`anterior prévi precedent acima todas todos`, `instruções instrução ordens diretriz regras comandos`),
	newLanguage("it", `ignora ignorate ignorare dimentica dimenticate`,
		`precedent anterior tutte tutti`, `istruzion direttiv ordini regole comandi`),
	newLanguage("nl", `negeer negeert vergeet`, `vorige eerdere voorgaande bovenstaande alle`, `instructie aanwijzing opdracht regels`),
	newLanguage("pl", `zignoruj ignoruj zapomnij`, `poprzedni wcześniejsz powyższ wszystkie`, `instrukc poleceni wytyczn zasad`),
	newLanguage("sv", `ignorera glöm`, `tidigare föregående ovanstående alla`, `instruktion anvisning regler`),
	newLanguage("tr", `yoksay say unut görmezden`, `önceki yukarıdaki tüm`, `talimat komut yönerge`),
	newLanguage("vi", `bỏ`, `trước trên`, `dẫn lệnh thị`),
	newLanguage("id", `abaikan lupakan`, `sebelumnya atas semua`, `instruksi perintah petunjuk arahan`),
	newLanguage("ru", `игнорируй игнорируйте проигнорируй проигнорируйте игнорировать забудь забудьте`,
		`предыдущ прежн вышеуказанн предшествующ все`, `инструкци указани команд правил`),
	newLanguage("uk", `ігноруй ігноруйте проігноруй проігноруйте забудь забудьте`,
		`попередн усі всі`, `інструкці вказівк команд правил`),
	newLanguage("el", `αγνόησε αγνοήστε ξέχασε ξεχάστε`, `προηγούμεν παραπάνω όλες`, `οδηγί εντολ`),
	newLanguage("ar", `تجاهل تجاهلي تجاهلوا انس انسى`, `السابقة السابق أعلاه جميع كل`, `التعليمات تعليمات الأوامر أوامر التوجيهات`),
	newLanguage("fa", `نادیده فراموش`, `قبلی پیشین`, `دستورالعمل دستورات دستور`),
	newLanguage("he", `התעלם התעלמי התעלמו שכח תתעלם`, `הקודמות הקודמים שלעיל כל מכל`, `ההוראות הוראות ההנחיות הפקודות`),
	newLanguage("hi", `अनदेखा नज़रअंदाज़ नज़रअंदाज नजरअंदाज भूल`, `पिछले पिछली पूर्व उपरोक्त सभी सारे`, `निर्देश आदेश हिदायत`),
	newLanguage("bn", `উপেক্ষা ভুলে`, `আগের পূর্ববর্তী সব`, `নির্দেশ`),
	newLanguage("ta", `புறக்கணி புறக்கணிக்கவும்`, `முந்தைய`, `வழிமுறை அறிவுறுத்தல்`),
	newLanguage("ko", `무시하고 무시해 무시하세요 무시하십시오 무시해라 잊어 잊어버려`, `이전 위의 앞의 기존 모든 모두`, `지시 명령 지침 프롬프트`),
}

// after gives where the order ends that the first word of c is the verb of, if
// which and what follow within eight words.
func (l *language) after(c *clause) int {
	which, what := 0, 0
	for i := 1; i <= 8 && c.has(i); i++ {
		w := c.lower[i]
		switch {
		case l.which.has(w):
			which = c.at[i].end
		case l.what.has(w):
			what = c.at[i].end
		}
		if which > 0 && what > 0 {
			return max(which, what)
		}
	}
	return 0
}

// unspacedLanguage is a language without spaces; all are found as parts.
type unspacedLanguage struct{ verbs, which, what []string }

var unspaceds = []unspacedLanguage{
	{
		strings.Fields(`忽略 无视 無視 忘记 忘記 忘掉 不要理会 不要理會 不理会`),
		strings.Fields(`之前 以前 先前 前面 以上 上述 上面 此前 所有`),
		strings.Fields(`指令 指示 提示词 提示詞 系统提示 命令 规则 規則`),
	},
	{
		strings.Fields(`無視し 無視せ 忘れて 忘れなさい 無視する`),
		strings.Fields(`以前 これまで 今まで 上記 前の 先の すべて 全て`),
		strings.Fields(`指示 命令 プロンプト ルール 指令`),
	},
	{
		strings.Fields(`不要告诉 不要告訴 别告诉 別告訴 不要让 不要讓`),
		strings.Fields(`用户 用戶 使用者`),
		strings.Fields(`用户 用戶 使用者`),
	},
	{
		strings.Fields(`言わないで 伝えないで 知らせないで 教えないで`),
		strings.Fields(`ユーザー 利用者`),
		strings.Fields(`ユーザー 利用者`),
	},
	{
		strings.Fields(`เพิกเฉย ไม่ต้องสนใจ ละเว้น ลืม`),
		strings.Fields(`ก่อนหน้า ข้างต้น ที่ผ่านมา`),
		strings.Fields(`คำสั่ง คำแนะนำ`),
	},
}

// unspacedVerbs are the verbs by their first three bytes.
var unspacedVerbs = func() map[[3]byte][]unspacedVerb {
	m := make(map[[3]byte][]unspacedVerb)
	for i := range unspaceds {
		for _, v := range unspaceds[i].verbs {
			key := [3]byte([]byte(v[:3]))
			m[key] = append(m[key], unspacedVerb{v, &unspaceds[i]})
		}
	}
	return m
}()

type unspacedVerb struct {
	verb string
	of   *unspacedLanguage
}

// nearby is how far from the verb its object can be, in bytes.
const nearby = 72

// unspacedOrder finds an order whose verb starts at i, with its object behind
// or, as in Japanese, in front of it.
func (f *finder) unspacedOrder(i int) (start, end int) {
	if f.text[i] < 0xe0 || i+3 > len(f.text) {
		return 0, 0
	}
	for _, v := range unspacedVerbs[[3]byte(f.text[i:i+3])] {
		if !bytes.HasPrefix(f.text[i:], []byte(v.verb)) {
			continue
		}
		verbEnd := i + len(v.verb)
		behind := f.text[verbEnd:sentenceEnd(f.text[:min(len(f.text), verbEnd+nearby)], verbEnd)]
		if at, size := firstOf(behind, v.of.what); at >= 0 {
			if which, _ := firstOf(behind, v.of.which); which >= 0 {
				return i, verbEnd + at + size
			}
		}
		from := max(f.last, i-nearby)
		for !utf8.RuneStart(f.text[from]) {
			from++
		}
		front := f.text[from:i]
		for cut := 0; cut < len(front); {
			_, size := utf8.DecodeRune(front[cut:])
			if endsSentence(front, cut) || front[cut] == '\n' {
				front, cut = front[cut+size:], 0
				continue
			}
			cut += size
		}
		which, _ := firstOf(front, v.of.which)
		what, _ := firstOf(front, v.of.what)
		if which >= 0 && what >= 0 {
			return i - len(front) + min(which, what), verbEnd
		}
	}
	return 0, 0
}

// firstOf gives where the first of parts is in text, and its size; -1 if none.
func firstOf(text []byte, parts []string) (at, size int) {
	at = -1
	for _, p := range parts {
		if n := bytes.Index(text, []byte(p)); n >= 0 && (at < 0 || n < at) {
			at, size = n, len(p)
		}
	}
	return at, size
}
