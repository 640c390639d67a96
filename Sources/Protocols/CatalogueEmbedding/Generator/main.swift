internal import Base

#if canImport(Glibc)
    internal import Glibc
#else
    internal import Darwin
#endif

// usage: embed-catalogue OUTPUT FILE…
//
// Writes a Swift source with the text of each file. Part of the build, not of the tool.

do {
    let arguments = CommandLine.arguments
    var source = "/// Each file of the catalogue with its name; made by the build.\n"
    source += "let embeddedProbes: [(path: String, text: String)] = [\n"
    for path in arguments.dropFirst(2) {
        let text = try Files.read(path).text
        let name = path.split(separator: "/").suffix(3).joined(separator: "/")
        source += "(\n\(String(reflecting: name)),\n\(String(reflecting: text))\n),\n"
    }
    source += "]\n"
    Files.remove(arguments[1])
    try Files.create(arguments[1], Array(source.utf8), readableByOthers: true)
} catch {
    print("error: \(error)")
    exit(1)
}
