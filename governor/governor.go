package governor

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"github.com/mayfly-run/mayfly/governor/internal/expr"
	"github.com/mayfly-run/mayfly/internal/store"
	"github.com/mayfly-run/mayfly/manifests"
)

// Config is what a Governor is made of.
type Config struct {
	// Set is the harness and its tools. Required.
	Set *manifests.Set
	// Store keeps what must outlive a call. Required.
	Store store.Store
	// Clock gives the time. Required.
	Clock func() time.Time
	// NewID makes IDs of approvals and reservations that no one else makes.
	// Default: 128 random bits.
	NewID func() string
	// Judge is asked in step 6. Required when the harness names a judge; nil
	// otherwise.
	Judge Judge
	// Verify reports whether what a tool's manifest was read from, and the
	// program that it names, are still what they were. An error blocks the call
	// with digest_mismatch. nil: only the pin is looked at.
	Verify func(ctx context.Context, t *manifests.Tool) error
	// Unmanifested are names of tools that the host has without a manifest. Calls
	// of them are blocked with manifest_required, or, where the harness does not
	// require manifests, checked against the defaults of one.
	Unmanifested []string
}

// Governor decides calls. It does not change and may be used by several
// goroutines.
type Governor struct {
	set          *manifests.Set
	store        store.Store
	clock        func() time.Time
	newID        func() string
	judge        Judge
	judgeTimeout time.Duration
	verify       func(context.Context, *manifests.Tool) error

	tools           map[string]*toolPlan
	unmanifested    map[string]bool
	tasks           map[string]*taskPlan
	noTask          *taskPlan
	policy          *manifests.Policy
	trifecta        manifests.TrifectaAction
	approvalTimeout time.Duration
}

// defaultJudgeTimeout is for a judge that the harness does not name.
const defaultJudgeTimeout = 10 * time.Second

// New makes a Governor: it compiles every expression of the harness and its
// tools. The error holds everything that is wrong, with file, line and column.
func New(c Config) (*Governor, error) {
	if c.Set == nil || c.Store == nil || c.Clock == nil {
		return nil, errors.New("a governor needs a set of manifests, a store and a clock")
	}
	h := c.Set.Harness
	g := &Governor{
		set: c.Set, store: c.Store, clock: c.Clock, newID: c.NewID, judge: c.Judge, verify: c.Verify,
		judgeTimeout: defaultJudgeTimeout, policy: h.Policy, trifecta: h.Tools.Trifecta,
		approvalTimeout: h.Approvals.Timeout,
		tools:           make(map[string]*toolPlan), unmanifested: make(map[string]bool),
		tasks: make(map[string]*taskPlan, len(h.Tasks)), noTask: planTask(nil, h),
	}
	if g.newID == nil {
		g.newID = rand.Text
	}
	if j := h.Tools.Judge; j != nil {
		if g.judge == nil {
			return nil, errors.New("the harness names a judge, and the governor was given none")
		}
		if j.Timeout > 0 {
			g.judgeTimeout = j.Timeout
		}
	}
	for name := range h.Tasks {
		task := h.Tasks[name]
		g.tasks[name] = planTask(&task, h)
	}
	if err := g.planTools(c.Unmanifested); err != nil {
		return nil, err
	}
	return g, nil
}

func (g *Governor) planTools(unmanifested []string) error {
	env, err := expr.NewEnv()
	if err != nil {
		return err
	}
	h := g.set.Harness
	rules, errs := compileRules(env, h.Policy)
	tools := g.set.Tools()
	for _, name := range unmanifested {
		if _, ok := g.set.Tool(name); ok {
			errs = append(errs, fmt.Errorf("tool %s has a manifest, and was given as one without", name))
			continue
		}
		if h.Tools.RequireManifest {
			g.unmanifested[name] = true
			continue
		}
		t, err := defaultTool(name)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		tools = append(tools, t)
	}
	for _, t := range tools {
		p, err := planTool(env, t, h, rules)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		g.tools[t.Metadata.Name] = p
	}
	return errors.Join(errs...)
}

// defaultTool is what a tool without a manifest is taken for: the defaults of
// every field. The handler stands for the host's own, which no step looks at.
func defaultTool(name string) (*manifests.Tool, error) {
	text := appendText([]byte(`{"apiVersion":"`+manifests.APIVersion+`","kind":"Tool","metadata":{"name":`), name)
	text = append(text, `},"spec":{"handler":"host:call"}}`...)
	docs, err := manifests.Parse("unmanifested.json", text)
	if err != nil {
		return nil, fmt.Errorf("a tool without a manifest needs a name that a manifest could have: %w", err)
	}
	return docs.Tools[0], nil
}

// Decide decides a call that is about to run. When it allows the call, the run
// is counted and marked, the rate limits have their place taken, and the
// approval, if there was one, is used up: the call has to be made now, or
// [Governor.Release] be told.
func (g *Governor) Decide(ctx context.Context, c Call) Decision { return g.decide(ctx, &c, false) }

// Authorize says what Decide would, for a call that will not be made. It leaves
// nothing behind: no count, no place, no mark, no approval. A judge is asked
// all the same.
func (g *Governor) Authorize(ctx context.Context, c Call) Decision { return g.decide(ctx, &c, true) }

func (g *Governor) decide(ctx context.Context, c *Call, dry bool) Decision {
	e := &evaluation{g: g, ctx: ctx, call: c, dry: dry, now: g.clock()}
	e.d.Run, e.d.CallID, e.d.Tool = c.Run, c.ID, c.Tool
	e.run()
	e.finish()
	return e.d
}

// Release gives back the place in the rate limits of a call that was allowed and
// did not start after all. A call that has started keeps its place.
func (g *Governor) Release(ctx context.Context, d Decision) error {
	if d.reservation == "" {
		return nil
	}
	return g.store.Release(ctx, d.reservation)
}
