module reshardctl.test/lines

go 1.24
