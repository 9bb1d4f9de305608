"""C++20, by g++. `bits/stdc++.h` is compiled ahead (`sandbox/headers.py`): most of the time goes into it."""

from sandbox.languages.language import Language, always

FLAGS = ("-std=c++20", "-O2")
"""What a header compiled ahead has to agree in with the program."""

CPP = Language(
    name="cpp",
    version=("g++", "-dumpfullversion"),
    source=always("main.cpp"),
    compile=("g++", *FLAGS, "-s", "-I{headers}", "-o", "main", "{source}"),
    artifact="main",
    run=("./main",),
    readable=("/usr/include",),
)
