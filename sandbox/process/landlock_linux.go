//go:build amd64 || arm64

package process

import (
	"errors"
	"fmt"
	"os"

	"github.com/landlock-lsm/go-landlock/landlock"
	ll "github.com/landlock-lsm/go-landlock/landlock/syscall"
)

// MaxLandlockABI is the newest version of Landlock whose rights are handled. A
// newer kernel is asked for no more than these.
const MaxLandlockABI = 7

// Rights by the version that brought them.
const (
	accessFirst landlock.AccessFSSet = ll.AccessFSExecute | ll.AccessFSWriteFile | ll.AccessFSReadFile | ll.AccessFSReadDir |
		ll.AccessFSRemoveDir | ll.AccessFSRemoveFile | ll.AccessFSMakeChar | ll.AccessFSMakeDir | ll.AccessFSMakeReg |
		ll.AccessFSMakeSock | ll.AccessFSMakeFifo | ll.AccessFSMakeBlock | ll.AccessFSMakeSym
	// accessFile are the rights that a file which is no directory can have.
	accessFile landlock.AccessFSSet = ll.AccessFSExecute | ll.AccessFSWriteFile | ll.AccessFSReadFile | ll.AccessFSTruncate | ll.AccessFSIoctlDev

	accessRead  landlock.AccessFSSet = ll.AccessFSReadFile | ll.AccessFSReadDir
	accessExec  landlock.AccessFSSet = accessRead | ll.AccessFSExecute
	accessWrite landlock.AccessFSSet = ll.AccessFSWriteFile | ll.AccessFSTruncate | ll.AccessFSRemoveDir | ll.AccessFSRemoveFile |
		ll.AccessFSMakeDir | ll.AccessFSMakeReg | ll.AccessFSMakeSock | ll.AccessFSMakeFifo | ll.AccessFSMakeSym | ll.AccessFSRefer
)

// handledFiles are the rights on files that a kernel of this version knows:
// whatever is handled and not granted is denied.
func handledFiles(abi int) landlock.AccessFSSet {
	handled := accessFirst
	if abi >= 2 {
		handled |= ll.AccessFSRefer
	}
	if abi >= 3 {
		handled |= ll.AccessFSTruncate
	}
	if abi >= 5 {
		handled |= ll.AccessFSIoctlDev
	}
	return handled
}

// landlockABI asks the kernel. 0: it has no Landlock, or it is switched off.
func landlockABI() int {
	abi, err := ll.LandlockGetABIVersion()
	if err != nil {
		return 0
	}
	return abi
}

// errNoRuleset stands for a ruleset that would restrict nothing.
var errNoRuleset = errors.New("the ruleset would restrict nothing")

// newRuleset makes the ruleset of a call and gives its descriptor.
func newRuleset(p *policy, grants []grant, items []item, proc bool) (int, error) {
	config := landlock.Config{HandledAccessFS: handledFiles(p.ABI)}
	if p.ABI >= 4 && p.Network == NetworkNone {
		config.HandledAccessNet = ll.AccessNetBindTCP | ll.AccessNetConnectTCP
	}
	if p.ABI >= 6 {
		config.Scoped = ll.ScopeAbstractUnixSocket | ll.ScopeSignal
	}
	rules, err := landlockRules(p, grants, items, config.HandledAccessFS, proc)
	if err != nil {
		return -1, err
	}
	return rulesetFD(config, rules...)
}

// newSignalScope makes a ruleset whose domain can signal no process outside of
// it, and does nothing else.
func newSignalScope() (int, error) {
	return rulesetFD(landlock.Config{Scoped: ll.ScopeSignal})
}

func rulesetFD(config landlock.Config, rules ...landlock.Rule) (int, error) {
	fd, flags, err := config.NewRulesetFD(rules...)
	switch {
	case err != nil:
		return -1, err
	case fd < 0:
		return -1, errNoRuleset
	case flags != 0:
		return -1, fmt.Errorf("unexpected flags %#x", flags)
	}
	return fd, nil
}

func landlockRules(p *policy, grants []grant, items []item, handled landlock.AccessFSSet, proc bool) ([]landlock.Rule, error) {
	var rules []landlock.Rule
	add := func(path string, access landlock.AccessFSSet) error {
		info, err := os.Stat(path)
		if err != nil {
			return err
		}
		if !info.IsDir() {
			access &= accessFile
		}
		if access &= handled; access != 0 {
			rules = append(rules, landlock.PathAccess(access, path))
		}
		return nil
	}
	for _, path := range devices {
		if err := add(path, ll.AccessFSReadFile|ll.AccessFSWriteFile); err != nil {
			return nil, err
		}
	}
	if p.Spaces {
		if err := add("/tmp", accessRead|accessWrite); err != nil {
			return nil, err
		}
		for _, r := range furnitureRules(items, grants) {
			if err := add(r.path, r.access); err != nil {
				return nil, err
			}
		}
	}
	if proc {
		if err := add("/proc", accessRead); err != nil {
			return nil, err
		}
	}
	for _, g := range grants {
		var access landlock.AccessFSSet
		if g.Rights&mayRead != 0 {
			access |= accessRead
		}
		if g.Rights&mayWrite != 0 {
			access |= accessWrite
		}
		if g.Rights&mayExec != 0 {
			access |= accessExec
		}
		if err := add(g.Path, access); err != nil {
			return nil, err
		}
	}
	return rules, nil
}
