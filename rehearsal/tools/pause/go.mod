module splitbed.invalid/tools/pause

go 1.26.0
