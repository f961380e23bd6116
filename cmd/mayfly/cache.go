package main

import (
	"os"
	"path/filepath"
)

// cacheFlag is for the verbs that start an interpreter.
type cacheFlag struct {
	CacheDir string `placeholder:"DIR" env:"MAYFLY_CACHE_DIR" help:"Where the compiled interpreter is kept. Default: mayfly in the user's cache directory."`
}

// dir is where compiled code is kept, or nothing on a machine that has no
// place for it.
func (c cacheFlag) dir(progress *progress) string {
	if c.CacheDir != "" {
		return c.CacheDir
	}
	dir, err := os.UserCacheDir()
	if err != nil {
		progress.say("the compiled interpreter is not kept: " + err.Error() + "; --cache-dir names a place")
		return ""
	}
	return filepath.Join(dir, "mayfly")
}
