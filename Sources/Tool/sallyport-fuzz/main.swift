internal import Commands
internal import Fuzzing

#if canImport(Glibc)
    internal import Glibc
#else
    internal import Darwin
#endif

let arguments = Array(CommandLine.arguments.dropFirst())
if arguments.first == "tool" {
    // The proxy that is fuzzed as a whole: the same tool, built as the readers are.
    let rest = Array(arguments.dropFirst())
    if let code = CommandLineTool.runSingleThreaded(arguments: rest) { exit(code) }
    _exit(await CommandLineTool.run(arguments: rest, environment: .ofProcess()))
}
exit(FuzzCommand.run(arguments))
