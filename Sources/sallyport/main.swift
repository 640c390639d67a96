internal import Commands

#if canImport(Glibc)
    internal import Glibc
#else
    internal import Darwin
#endif

let arguments = Array(CommandLine.arguments.dropFirst())
// Before anything waits: what follows may start threads.
if let code = CommandLineTool.runSingleThreaded(arguments: arguments) { exit(code) }
let code = await CommandLineTool.run(arguments: arguments, environment: .ofProcess())
exit(code)
