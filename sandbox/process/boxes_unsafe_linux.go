//go:build amd64 || arm64

package process

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// A box stands for a directory that may be written within a limit: it is empty,
// lies in memory of that size, which all boxes of a call share, and is emptied
// into the directory when the call has ended well. See carry_linux.go.

// maxBoxFiles is how many files and directories all boxes of a call may hold.
const maxBoxFiles = 4096

// boxRoot is where the boxes are made in the new root; it is gone before the
// program starts.
const boxRoot = "/.boxes"

// boxed are the directories of a call that are written within its limit, or why
// they cannot be.
func boxed(spec *Spec, asked Limits) ([]string, error) {
	if asked.MaxWriteBytes == 0 || len(spec.Write) == 0 {
		return nil, nil
	}
	var boxes []string
	for i, path := range spec.Write {
		p, _, err := resolve(path)
		at := fmt.Sprintf("/write/%d", i)
		switch {
		case err != nil:
			return nil, &specError{at, "cannot be resolved: " + bare(err)}
		case !p.IsDir:
			return nil, &specError{at, "is a file; what is written in all can be limited for directories only: grant its directory, or leave /limits/maxwritebytes out, for /limits/maxfilebytes bounds it"}
		}
		boxes = append(boxes, p.Path)
	}
	slices.Sort(boxes)
	boxes = slices.Compact(boxes)
	for _, list := range []struct {
		name  string
		paths []string
		exec  bool
	}{
		{"read", spec.Read, false}, {"write", spec.Write, false}, {"exec", spec.Exec, true}, {"unixsockets", spec.UnixSockets, false}, {"command", []string{spec.Command}, true},
	} {
		for i, path := range list.paths {
			at := fmt.Sprintf("/%s/%d", list.name, i)
			p, _, err := resolve(path)
			if err != nil {
				return nil, &specError{at, "cannot be resolved: " + bare(err)}
			}
			for _, box := range boxes {
				if p.Path != box && strings.HasPrefix(p.Path, box+"/") {
					return nil, &specError{at, "lies in a directory that is written within a limit, which the program finds empty"}
				}
				if list.exec && reaches(p.Path, box) {
					return nil, &specError{at, "makes what is written within a limit executable: write to another directory"}
				}
			}
		}
	}
	return boxes, nil
}

// checkBoxes refuses what has changed on the way to here.
func (p *policy) checkBoxes() error {
	if len(p.Boxes) == 0 {
		return nil
	}
	n := 0
	for _, place := range p.Places {
		if slices.Contains(p.Boxes, place.Path) && place.IsDir {
			n++
		} else if place.Rights&mayWrite != 0 {
			return fmt.Errorf("%s would be written without a limit", place.Path)
		}
	}
	if n != len(p.Boxes) {
		return fmt.Errorf("%d directories are there to be written, want %d", n, len(p.Boxes))
	}
	return nil
}

// boxes makes the boxes among the trees, and hands the host what holds them all.
func (v *view) boxes(trees []*tree, control uintptr) {
	p := v.policy
	if len(p.Boxes) == 0 {
		return
	}
	root := staging + boxRoot
	v.add(LayerFileSystem, "make a place for boxes", unix.SYS_MKDIRAT, here, v.text(root), 0o700)
	v.mount("the boxes", "tmpfs", root, unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC,
		fmt.Sprintf("mode=700,size=%d,nr_inodes=%d", p.WriteBytes, maxBoxFiles+len(p.Boxes)+1))
	for _, t := range trees {
		i := slices.Index(p.Boxes, t.path)
		if i < 0 {
			continue
		}
		path := v.text(filepath.Join(root, strconv.Itoa(i)))
		what := "make a box for " + t.path
		v.add(LayerFileSystem, what, unix.SYS_MKDIRAT, here, path, 0o700)
		v.add(LayerFileSystem, what, unix.SYS_FCHOWNAT, here, path, uintptr(p.UID), uintptr(p.GID), 0)
		v.add(LayerFileSystem, what, unix.SYS_OPEN_TREE, here, path, unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC).into = &t.fd
		v.allow(v.ruleset, &t.opened, "allow "+t.path, t.rights.access(), true, p.ABI)
	}
	all := newParcel(sayBoxes)
	v.add(LayerFileSystem, "open the boxes", unix.SYS_OPENAT, here, v.text(root), unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0).into = &all.control.fd
	v.hand(LayerFileSystem, "hand the boxes over", control, all)
	v.add(LayerFileSystem, "hide the boxes", unix.SYS_UMOUNT2, v.text(root), unix.MNT_DETACH)
	v.add(LayerFileSystem, "hide the boxes", unix.SYS_UNLINKAT, here, v.text(root), unix.AT_REMOVEDIR)
}
