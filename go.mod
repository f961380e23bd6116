module github.com/mayfly-run/mayfly

go 1.26
