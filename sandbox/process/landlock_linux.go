//go:build amd64 || arm64

package process

import (
	"sync"

	"github.com/landlock-lsm/go-landlock/landlock"
	ll "github.com/landlock-lsm/go-landlock/landlock/syscall"
	"golang.org/x/sys/unix"
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

// landlockABI asks the kernel. 0: it has no Landlock, or it is switched off. One
// that has scopes and keeps threads of one process from signalling each other
// (erratum 2) counts as one without.
var landlockABI = sync.OnceValue(func() int {
	abi, err := ll.LandlockGetABIVersion()
	if err != nil {
		return 0
	}
	if errata, err := ll.LandlockGetErrata(); abi >= 6 && (err != nil || errata&2 == 0) {
		return 5
	}
	return abi
})

// ruleset makes a ruleset, which has no rules yet.
func (l *list) ruleset(what string, attr *ll.RulesetAttr) *int32 {
	// Kernels that know only the start of it take the rest if it is zero.
	at, size := structure(l, attr)
	return l.add(LayerLandlock, what, unix.SYS_LANDLOCK_CREATE_RULESET, at, size, 0).gives()
}

// newRuleset makes the ruleset of a call.
func newRuleset(l *list, p *policy) *int32 {
	attr := &ll.RulesetAttr{HandledAccessFS: uint64(handledFiles(p.ABI))}
	if p.ABI >= 4 && p.Network != NetworkAll {
		attr.HandledAccessNet = ll.AccessNetBindTCP | ll.AccessNetConnectTCP
	}
	if p.ABI >= 6 {
		attr.Scoped = ll.ScopeAbstractUnixSocket | ll.ScopeSignal
	}
	ruleset := l.ruleset("make the ruleset", attr)
	if p.ABI >= 4 && p.Network == NetworkProxy {
		l.allowProxy(ruleset)
	}
	return ruleset
}

// opened is what a step opens, in the form in which the kernel takes a rule for
// it and all that is below it.
type opened struct {
	access uint64
	fd     int32
}

// allow adds a rule for what is open. A file has no rights of a directory, and a
// kernel none that came after it.
func (l *list) allow(ruleset *int32, o *opened, what string, access landlock.AccessFSSet, isDir bool, abi int) {
	if !isDir {
		access &= accessFile
	}
	if access &= handledFiles(abi); access == 0 {
		return
	}
	o.access = uint64(access)
	l.add(LayerLandlock, what, unix.SYS_LANDLOCK_ADD_RULE, 0, landlockPathBeneath, pointer(l, o), 0).takes(0, ruleset)
}

// landlockPathBeneath is the kind of those rules.
const landlockPathBeneath = 1

// access are the rights of a grant.
func (r rights) access() (access landlock.AccessFSSet) {
	if r&mayRead != 0 {
		access |= accessRead
	}
	if r&mayWrite != 0 {
		access |= accessWrite
	}
	if r&mayExec != 0 {
		access |= accessExec
	}
	return access
}

// deviceAccess is what may be done with devices.
const deviceAccess landlock.AccessFSSet = ll.AccessFSReadFile | ll.AccessFSWriteFile

// landlockOnly adds the rules of a call that sees the host's files.
func (l *list) landlockOnly(p *policy, ruleset *int32) {
	add := func(path string, access landlock.AccessFSSet, isDir bool) {
		o := new(opened)
		l.open(o, LayerLandlock, path)
		l.allow(ruleset, o, "allow "+path, access, isDir, p.ABI)
		l.close(&o.fd)
	}
	for _, path := range devices {
		add(path, deviceAccess, false)
	}
	for i, at := range p.Places {
		if !covered(p.Places[:i], at) {
			add(at.Path, at.Rights.access(), at.IsDir)
		}
	}
}
