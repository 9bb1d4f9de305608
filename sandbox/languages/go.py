"""Go, the standard library alone."""

from sandbox.languages.language import Language, always

GO = Language(
    name="go",
    version=("go", "version"),
    source=always("main.go"),
    compile=("go", "build", "-o", "main", "{source}"),
    artifact="main",
    run=("./main",),
    environment={"CGO_ENABLED": "0", "GO111MODULE": "off", "GOTOOLCHAIN": "local", "GOPROXY": "off"},
    readable=("/usr/share/go-*",),
)
