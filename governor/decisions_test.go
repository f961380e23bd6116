package governor_test

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/mayfly-run/mayfly/governor"
	"github.com/mayfly-run/mayfly/internal/store"
	"github.com/mayfly-run/mayfly/manifests"
)

var update = flag.Bool("update", false, "write what the fixtures of decisions give now into them")

// The fixtures are for every implementation of the governor. README.md beside
// them has the form.
func TestDecisions(t *testing.T) {
	files, err := filepath.Glob("testdata/decisions/*.txtar")
	if err != nil || len(files) < 10 {
		t.Fatalf("found %d fixtures, %v", len(files), err)
	}
	codes := make(map[string]bool)
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if len(bytes.TrimSpace(archive.Comment)) == 0 {
				t.Error("the fixture does not say what its story is")
			}
			s := newStory(t, archive)
			decisions, reasons := s.play(archiveFile(archive, "calls.jsonl"))
			for code := range s.codes {
				codes[code] = true
			}
			if *update {
				setArchiveFile(archive, "decisions.jsonl", decisions)
				setArchiveFile(archive, "reasons.txt", reasons)
				if err := os.WriteFile(file, txtar.Format(archive), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if diff := cmp.Diff(string(archiveFile(archive, "decisions.jsonl")), string(decisions)); diff != "" {
				t.Errorf("decisions (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(string(archiveFile(archive, "reasons.txt")), string(reasons)); diff != "" {
				t.Errorf("reasons (-want +got):\n%s", diff)
			}
		})
	}
	if t.Failed() || testing.Short() {
		return
	}
	for code := range codeDocs(t) {
		if !codes[code] && code != string(governor.CodeInternal) {
			t.Errorf("no fixture gives code %s", code)
		}
	}
}

func archiveFile(a *txtar.Archive, name string) []byte {
	for _, f := range a.Files {
		if f.Name == name {
			return f.Data
		}
	}
	return nil
}

func setArchiveFile(a *txtar.Archive, name string, data []byte) {
	for i := range a.Files {
		if a.Files[i].Name == name {
			a.Files[i].Data = data
			return
		}
	}
	a.Files = append(a.Files, txtar.File{Name: name, Data: data})
}

// entry is one line of calls.jsonl. Exactly one field is set.
type entry struct {
	Run       *runEntry    `json:"run,omitempty"`
	Call      *callEntry   `json:"call,omitempty"`
	Authorize *callEntry   `json:"authorize,omitempty"`
	Answer    *answerEntry `json:"answer,omitempty"`
	Revoke    *grantEntry  `json:"revoke,omitempty"`
	Grant     *grantEntry  `json:"grant,omitempty"`
	Advance   string       `json:"advance,omitempty"`
	Judge     string       `json:"judge,omitempty"`
	Change    string       `json:"change,omitempty"`
}

type runEntry struct {
	ID        string   `json:"id"`
	Principal string   `json:"principal,omitempty"`
	Tenant    string   `json:"tenant,omitempty"`
	Task      string   `json:"task,omitempty"`
	Grant     []string `json:"grant,omitempty"`
	Expires   string   `json:"expires,omitempty"`
}

type callEntry struct {
	Run       string         `json:"run,omitempty"`
	Principal string         `json:"principal,omitempty"`
	Tenant    string         `json:"tenant,omitempty"`
	Task      string         `json:"task,omitempty"`
	ID        string         `json:"id,omitempty"`
	Tool      string         `json:"tool"`
	Args      jsontext.Value `json:"args,omitzero"`
	ArgsText  *string        `json:"args_text,omitempty"`
	Labels    []string       `json:"labels,omitempty"`
	Approval  string         `json:"approval,omitempty"`
}

type answerEntry struct {
	Approval string         `json:"approval"`
	Action   string         `json:"action"`
	By       string         `json:"by"`
	Roles    []string       `json:"roles,omitempty"`
	Args     jsontext.Value `json:"args,omitzero"`
}

type grantEntry struct {
	Run     string `json:"run"`
	Tool    string `json:"tool,omitempty"`
	Expires string `json:"expires,omitempty"`
}

// line is one line of decisions.jsonl.
type line struct {
	Outcome      string   `json:"outcome"`
	Step         string   `json:"step,omitempty"`
	Code         string   `json:"code,omitempty"`
	ApproverRole string   `json:"approver_role,omitempty"`
	Approval     string   `json:"approval,omitempty"`
	RetryIn      string   `json:"retry_in,omitempty"`
	Labels       []string `json:"labels,omitempty"`
}

// story plays one fixture.
type story struct {
	t         *testing.T
	g         *governor.Governor
	store     store.Store
	now       time.Time
	judge     string
	changed   map[string]bool
	ids       int
	approvals []string
	codes     map[string]bool
}

var start = time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)

func newStory(t *testing.T, archive *txtar.Archive) *story {
	s := &story{t: t, store: store.NewMemory(), now: start, changed: map[string]bool{}, codes: map[string]bool{}}
	dir := t.TempDir()
	for _, f := range archive.Files {
		if !strings.HasSuffix(f.Name, ".yaml") {
			continue
		}
		path := filepath.Join(dir, filepath.FromSlash(f.Name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, f.Data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	set, err := manifests.Load(filepath.Join(dir, "harness.yaml"), nil)
	if err != nil {
		t.Fatal(err)
	}
	s.g, err = governor.New(governor.Config{
		Set: set, Store: s.store, Clock: func() time.Time { return s.now },
		NewID: func() string { s.ids++; return fmt.Sprintf("id-%d", s.ids) },
		Judge: s.theJudge(set),
		Verify: func(_ context.Context, t *manifests.Tool) error {
			if s.changed[t.Metadata.Name] {
				return errors.New("changed")
			}
			return nil
		},
		Unmanifested: strings.Fields(string(archiveFile(archive, "unmanifested.txt"))),
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

type judgeFunc func(context.Context, governor.JudgeRequest) (governor.Verdict, error)

func (f judgeFunc) Judge(ctx context.Context, r governor.JudgeRequest) (governor.Verdict, error) {
	return f(ctx, r)
}

// theJudge says what the story's last judge entry says: a verdict, or a way to
// fail.
func (s *story) theJudge(set *manifests.Set) governor.Judge {
	if set.Harness.Tools.Judge == nil {
		return nil
	}
	return judgeFunc(func(context.Context, governor.JudgeRequest) (governor.Verdict, error) {
		switch s.judge {
		case "":
			return governor.VerdictAllow, nil
		case "error":
			return governor.VerdictAllow, errors.New("out of order")
		case "panic":
			panic("out of order")
		}
		return governor.Verdict(s.judge), nil
	})
}

func (s *story) play(calls []byte) (decisions, reasons []byte) {
	s.t.Helper()
	n := 0
	for text := range bytes.Lines(calls) {
		n++
		if text = bytes.TrimSpace(text); len(text) == 0 {
			continue
		}
		var e entry
		if err := json.Unmarshal(text, &e, json.RejectUnknownMembers(true)); err != nil {
			s.t.Fatalf("calls.jsonl:%d: %v", n, err)
		}
		l, reason, ok := s.enter(e)
		if !ok {
			continue
		}
		s.codes[l.Code] = true
		out, err := json.Marshal(l)
		if err != nil {
			s.t.Fatal(err)
		}
		decisions = append(append(decisions, out...), '\n')
		reasons = fmt.Appendf(reasons, "%d: %s\n", n, reason)
	}
	return decisions, reasons
}

// enter plays one entry; ok says whether it has a decision.
func (s *story) enter(e entry) (l line, reason string, ok bool) {
	ctx := s.t.Context()
	switch {
	case e.Run != nil:
		r := store.Run{ID: e.Run.ID, Principal: e.Run.Principal, Tenant: e.Run.Tenant, Task: e.Run.Task, Created: s.now, Expires: s.after(e.Run.Expires)}
		s.must(s.store.CreateRun(ctx, r))
		for _, tool := range e.Run.Grant {
			s.must(s.store.Grant(ctx, store.Grant{RunID: r.ID, Tool: tool, Granted: s.now}))
		}
	case e.Grant != nil:
		s.must(s.store.Grant(ctx, store.Grant{RunID: e.Grant.Run, Tool: e.Grant.Tool, Granted: s.now, Expires: s.after(e.Grant.Expires)}))
	case e.Revoke != nil:
		s.must(s.store.Revoke(ctx, e.Revoke.Run, e.Revoke.Tool, s.now))
	case e.Advance != "":
		d, err := time.ParseDuration(e.Advance)
		s.must(err)
		s.now = s.now.Add(d)
	case e.Judge != "":
		s.judge = e.Judge
	case e.Change != "":
		s.changed[e.Change] = true
	case e.Call != nil:
		// What a dry run says beforehand is what the call gets.
		dry := s.g.Authorize(ctx, s.call(*e.Call))
		d := s.g.Decide(ctx, s.call(*e.Call))
		if e.Call.Run != "" && (dry.Outcome != d.Outcome || dry.Step != d.Step || dry.Code != d.Code || dry.ApproverRole != d.ApproverRole || !dry.RetryAt.Equal(d.RetryAt)) {
			s.t.Errorf("Authorize says %v %s %s, Decide %v %s %s", dry.Outcome, dry.Step, dry.Code, d.Outcome, d.Step, d.Code)
		}
		return s.line(d), d.Reason, true
	case e.Authorize != nil:
		d := s.g.Authorize(ctx, s.call(*e.Authorize))
		return s.line(d), d.Reason, true
	case e.Answer != nil:
		a := s.answer(ctx, *e.Answer)
		l := line{Outcome: "refused", Code: string(a.Code)}
		if a.Accepted {
			l.Outcome = string(a.Approval.State)
		}
		return l, a.Reason, true
	default:
		s.t.Fatal("an entry without content")
	}
	return line{}, "", false
}

func (s *story) must(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

func (s *story) after(d string) time.Time {
	if d == "" {
		return time.Time{}
	}
	per, err := time.ParseDuration(d)
	s.must(err)
	return s.now.Add(per)
}

func (s *story) call(c callEntry) governor.Call {
	call := governor.Call{
		Run: c.Run, Subject: governor.Subject{Principal: c.Principal, Tenant: c.Tenant, Task: c.Task},
		ID: c.ID, Tool: c.Tool, Approval: s.approval(c.Approval),
	}
	switch {
	case c.ArgsText != nil:
		call.Args = governor.ParseArguments([]byte(*c.ArgsText))
	case len(c.Args) > 0:
		call.Args = governor.ParseArguments(c.Args)
	}
	for _, l := range c.Labels {
		switch l {
		case "untrusted_seen":
			call.Labels.UntrustedSeen = true
		case "private_seen":
			call.Labels.PrivateSeen = true
		default:
			s.t.Fatalf("no label %s", l)
		}
	}
	return call
}

// approval turns $1 into the ID of the first approval that was asked for.
func (s *story) approval(name string) string {
	var n int
	if _, err := fmt.Sscanf(name, "$%d", &n); err != nil || n < 1 || n > len(s.approvals) {
		return name
	}
	return s.approvals[n-1]
}

func (s *story) answer(ctx context.Context, e answerEntry) governor.Answer {
	id, by := s.approval(e.Approval), governor.Approver{Name: e.By, Roles: e.Roles}
	switch e.Action {
	case "approve":
		return s.g.Approve(ctx, id, by, "")
	case "reject":
		return s.g.Reject(ctx, id, by, "")
	case "edit":
		return s.g.Edit(ctx, id, by, governor.ParseArguments(e.Args), "")
	}
	s.t.Fatalf("no action %s", e.Action)
	return governor.Answer{}
}

func (s *story) line(d governor.Decision) line {
	l := line{Outcome: d.Outcome.String(), Step: string(d.Step), Code: string(d.Code), ApproverRole: d.ApproverRole}
	if !d.RetryAt.IsZero() {
		l.RetryIn = d.RetryAt.Sub(s.now).String()
	}
	if d.Labels.UntrustedSeen {
		l.Labels = append(l.Labels, "untrusted_seen")
	}
	if d.Labels.PrivateSeen {
		l.Labels = append(l.Labels, "private_seen")
	}
	if d.ApprovalID != "" {
		i := 0
		for ; i < len(s.approvals) && s.approvals[i] != d.ApprovalID; i++ {
		}
		if i == len(s.approvals) {
			s.approvals = append(s.approvals, d.ApprovalID)
		}
		l.Approval = fmt.Sprintf("$%d", i+1)
	}
	return l
}
