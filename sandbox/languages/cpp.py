"""C++20, by g++."""

from sandbox.languages.language import Language, always

CPP = Language(
    name="cpp",
    version=("g++", "-dumpfullversion"),
    source=always("main.cpp"),
    compile=("g++", "-std=c++20", "-O2", "-s", "-o", "main", "{source}"),
    artifact="main",
    run=("./main",),
    readable=("/usr/include",),
)
