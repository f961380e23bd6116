package httpapi

import (
	"bufio"
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
)

// tokenPrefix makes tokens known to whoever looks for lost secrets.
const tokenPrefix = "mayfly_"

// tokenBytes is how many random bytes a token has. Nobody guesses 256 bits, so
// that a fast hash keeps them as well as a slow one would, and the slow one would
// let strangers burn the server's time.
const tokenBytes = 32

const (
	// maxTokenFile and maxTokens bound what is read of a file.
	maxTokenFile = 1 << 20
	maxTokens    = 4096
	// tokenCheck is how often the file is looked at for changes, at most.
	tokenCheck = time.Second
)

// TokenLine is a line of a token file.
type TokenLine struct {
	// SHA256 is the token's, in hex.
	SHA256    string   `json:"sha256"`
	Principal string   `json:"principal"`
	Tenant    string   `json:"tenant,omitzero"`
	Roles     []string `json:"roles,omitzero"`
	// Approver and ApproverRoles are those of [Caller].
	Approver      string   `json:"approver,omitzero"`
	ApproverRoles []string `json:"approver_roles,omitzero"`
	// Expires is from when on the token is void. The zero time is never.
	Expires time.Time `json:"expires,omitzero"`
}

// NewToken makes a token, and the line that goes into the file.
func NewToken(c Caller, expires time.Time) (token string, line []byte, err error) {
	l := TokenLine{Principal: c.Principal, Tenant: c.Tenant, Roles: c.Roles, Approver: c.Approver, ApproverRoles: c.ApproverRoles, Expires: expires}
	var secret [tokenBytes]byte
	if _, err := rand.Read(secret[:]); err != nil {
		return "", nil, fmt.Errorf("make a token: %w", err)
	}
	token = tokenPrefix + base64.RawURLEncoding.EncodeToString(secret[:])
	hash := sha256.Sum256([]byte(token))
	l.SHA256 = hex.EncodeToString(hash[:])
	if _, err := l.check(); err != nil {
		return "", nil, err
	}
	line, err = json.Marshal(l)
	return token, line, err
}

// check gives the hash of a line that is all right.
func (l TokenLine) check() (hash [sha256.Size]byte, err error) {
	b, err := hex.DecodeString(l.SHA256)
	if err != nil || len(b) != sha256.Size {
		return hash, errors.New("sha256 is not the hash of a token; mayfly tokens new makes one")
	}
	copy(hash[:], b)
	if l.Principal == "" {
		return hash, errors.New("a token needs a principal")
	}
	switch {
	case l.Approver == "" && len(l.ApproverRoles) > 0:
		return hash, errors.New("approver_roles are of an approver, and there is none")
	case l.Approver == l.Principal:
		return hash, errors.New("approver and principal are the same: nobody answers for their own calls")
	}
	for _, name := range slices.Concat([]string{l.Principal, l.Tenant, l.Approver}, l.Roles, l.ApproverRoles) {
		if len(name) > 256 || !utf8.ValidString(name) || strings.ContainsFunc(name, unicode.IsControl) {
			return hash, errors.New("a principal, tenant or role is too long or has characters that cannot be seen")
		}
	}
	if slices.Contains(l.Roles, "") || slices.Contains(l.ApproverRoles, "") {
		return hash, errors.New("a role has no name")
	}
	return hash, nil
}

// Tokens are what a file says about who has which token. The file is read again
// when it changes. As long as it cannot be read, nobody is let in: a token that
// was taken out must not hold because of a slip on another line.
type Tokens struct {
	path string
	now  func() time.Time

	mu      sync.Mutex
	looked  time.Time
	seen    os.FileInfo
	entries []tokenEntry
	err     error
}

type tokenEntry struct {
	hash    [sha256.Size]byte
	caller  Caller
	expires time.Time
}

// OpenTokens reads a token file: JSON Lines, each a [TokenLine]; lines that are
// empty or start with # are skipped. The file must be its owner's, and neither
// writable for the group nor open to others. now is the clock; nil is time.Now.
func OpenTokens(path string, now func() time.Time) (*Tokens, error) {
	if now == nil {
		now = time.Now
	}
	t := &Tokens{path: path, now: now}
	return t, t.Reload()
}

// Reload reads the file again.
func (t *Tokens) Reload() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.read()
	return t.err
}

// read reads the file. Preconditions: t.mu is held, or t is not shared yet.
func (t *Tokens) read() {
	t.looked = t.now()
	t.entries, t.seen, t.err = readTokens(t.path)
	if t.err != nil {
		t.err = fmt.Errorf("token file %s: %w", t.path, t.err)
	}
}

func readTokens(path string) ([]tokenEntry, os.FileInfo, error) {
	f, err := openTokenFile(path)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, nil, errors.New("not a regular file")
	}
	if err := privateFile(info); err != nil {
		return nil, nil, err
	}
	text, err := io.ReadAll(io.LimitReader(f, maxTokenFile+1))
	if err != nil {
		return nil, nil, err
	}
	if len(text) > maxTokenFile {
		return nil, nil, fmt.Errorf("more than %d bytes", maxTokenFile)
	}
	entries, err := parseTokens(text)
	return entries, info, err
}

func parseTokens(text []byte) ([]tokenEntry, error) {
	var entries []tokenEntry
	have := make(map[[sha256.Size]byte]bool)
	lines := bufio.NewScanner(bytes.NewReader(text))
	for number := 1; lines.Scan(); number++ {
		line := bytes.TrimSpace(lines.Bytes())
		if len(line) == 0 || line[0] == '#' {
			continue
		}
		var l TokenLine
		if err := json.Unmarshal(line, &l, json.RejectUnknownMembers(true)); err != nil {
			return nil, fmt.Errorf("line %d is not what mayfly tokens new prints", number)
		}
		hash, err := l.check()
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", number, err)
		}
		if have[hash] {
			return nil, fmt.Errorf("line %d is about a token that another line is about", number)
		}
		have[hash] = true
		if len(entries) == maxTokens {
			return nil, fmt.Errorf("more than %d tokens", maxTokens)
		}
		entries = append(entries, tokenEntry{hash, Caller{l.Principal, l.Tenant, l.Roles, l.Approver, l.ApproverRoles}, l.Expires})
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("a line is too long: %w", err)
	}
	return entries, nil
}

// find says whose a token is. An error means that nobody can be let in now.
func (t *Tokens) find(token string) (Caller, bool, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := t.now()
	if now.Sub(t.looked) >= tokenCheck || now.Before(t.looked) {
		if t.looked = now; t.changed() {
			t.read()
		}
	}
	if t.err != nil {
		return Caller{}, false, t.err
	}
	given := sha256.Sum256([]byte(token))
	at := -1
	for i, e := range t.entries { // all of them, so that time does not tell which
		at = subtle.ConstantTimeSelect(subtle.ConstantTimeCompare(e.hash[:], given[:]), i, at)
	}
	if at < 0 {
		return Caller{}, false, nil
	}
	e := t.entries[at]
	if !e.expires.IsZero() && !now.Before(e.expires) {
		return Caller{}, false, nil
	}
	return e.caller, true, nil
}

// changed reports whether the file is not what was read.
func (t *Tokens) changed() bool {
	info, err := os.Stat(t.path)
	if err != nil || t.seen == nil {
		return t.err == nil || err == nil || !errors.Is(err, fs.ErrNotExist)
	}
	return !os.SameFile(info, t.seen) || info.Size() != t.seen.Size() || !info.ModTime().Equal(t.seen.ModTime()) || info.Mode() != t.seen.Mode()
}
