internal import Commands

#if canImport(Glibc)
    internal import Glibc
#else
    internal import Darwin
#endif

let arguments = Array(CommandLine.arguments.dropFirst())
// Else a name with other bytes would become another name.
for place in 1..<max(1, Int(CommandLine.argc)) {
    guard let argument = unsafe CommandLine.unsafeArgv[place] else { break }
    guard unsafe String(validatingCString: argument) == nil else { continue }
    exit(CommandLineTool.refuse(argument: place))
}
// Before anything waits: what follows may start threads.
if let code = CommandLineTool.runSingleThreaded(arguments: arguments) { exit(code) }
let code = await CommandLineTool.run(arguments: arguments, environment: .ofProcess())
// Not `exit`: OpenSSL would take down what threads hold in it that are just ending, and so free it
// twice. All output has been written when it was made.
_exit(code)
