package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// choose finds out which peers take part: all of them, or those that are named.
// One that is not installed has to be allowed by name.
func (b *bench) choose(only, allowMissing string) error {
	wanted, err := names(only)
	if err != nil {
		return err
	}
	allowed, err := names(allowMissing)
	if err != nil {
		return err
	}
	var missing []error
	for i := range peers {
		p := &peers[i]
		if len(wanted) > 0 && !slices.Contains(wanted, p.name) {
			continue
		}
		err := p.missing(b.at)
		switch {
		case err == nil:
			b.peers = append(b.peers, p)
		case slices.Contains(allowed, p.name):
			b.say("without %s: %v", p.name, err)
			b.report.Missing = append(b.report.Missing, p.name)
		default:
			missing = append(missing, fmt.Errorf("%s: %w", p.name, err))
		}
	}
	if len(missing) > 0 {
		return fmt.Errorf("not installed (make bench-peers installs them, -allow-missing NAME goes on without):\n%w", errors.Join(missing...))
	}
	if len(b.peers) == 0 {
		return errors.New("no peer is left to measure")
	}
	return nil
}

// names splits a list, and refuses what is no peer.
func names(list string) ([]string, error) {
	if list == "" {
		return nil, nil
	}
	all := strings.Split(list, ",")
	for _, n := range all {
		if _, ok := findPeer(n); !ok {
			return nil, fmt.Errorf("there is no peer %q; see -help", n)
		}
	}
	return all, nil
}

// prepare starts every driver, so that what a first start compiles is in the
// caches, and asks for the versions.
func (b *bench) prepare() error {
	for _, p := range b.peers {
		b.say("starting %s", p.name)
		d, err := b.driver(p)
		if err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
		b.report.Peers = append(b.report.Peers, peerReport{p.name, p.title, p.language, d.versions})
	}
	return nil
}
