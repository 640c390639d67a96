internal import Commands

#if canImport(Glibc)
    internal import Glibc
#else
    internal import Darwin
#endif

let code = await CommandLineTool.run(
    arguments: Array(CommandLine.arguments.dropFirst()), environment: .ofProcess())
exit(code)
