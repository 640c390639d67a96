import Base
import Foundation
import Sockets
import Testing

@testable import Confinement

/// Where a confined command runs in a test.
enum Place {
    /// The tool, which is built beside the tests.
    static let tool: String = {
        let tests = CommandLine.arguments.first { $0.contains(".xctest") } ?? ".build/debug/tests"
        var folder = URL(fileURLWithPath: tests).resolvingSymlinksInPath()
        while folder.pathComponents.count > 1 {
            folder.deleteLastPathComponent()
            let tool = folder.appendingPathComponent("sallyport").path
            if FileManager.default.isExecutableFile(atPath: tool) { return tool }
        }
        return "sallyport"
    }()

    /// Whether this system lets namespaces be made.
    static let isAllowed: Bool = {
        do {
            try confined("true") { _ = $0.wait() }
            return true
        } catch let failure as Failure where failure.code == "namespaces-forbidden" {
            return false
        } catch {
            return true
        }
    }()
}

/// Runs a command confined, and `body` beside it.
///
/// - Parameters:
///   - asNobody: without privileges; for that the tests must run as root.
///   - begins: whether it is let run.
func confined(
    _ command: String..., usesFilter: Bool = true, asNobody: Bool = false, begins: Bool = true,
    body: (ConfinedProcess) throws -> Void
) throws {
    let folder = NSTemporaryDirectory() + "sallyport-confined-\(UUID().uuidString)"
    try Files.makeFolder(folder)
    defer { Files.remove(folder) }
    let bundle = "\(folder)/bundle.pem"
    try Files.create(bundle, Array("MARK\n".utf8))
    defer { Files.remove(bundle) }
    var configuration = ConfinementConfiguration(
        command: command,
        variables: ProcessInfo.processInfo.environment.merging(["MARK": "1"]) { $1 },
        bundle: bundle, folder: folder)
    configuration.certificates = [
        "0a0b0c0d.0": Array("HASH\n".utf8), "java/cacerts": Array("JAVA\n".utf8),
    ]
    configuration.executable = Place.tool
    configuration.usesFilter = usesFilter
    let wrapper = "\(folder)/as-nobody"
    defer { Files.remove(wrapper) }
    if asNobody {
        let line =
            "exec setpriv --reuid=65534 --regid=65534 --clear-groups \(Place.tool) \"$@\""
        try Files.create(wrapper, Array("#!/bin/sh\n\(line)\n".utf8))
        for path in [wrapper, folder, bundle] { unsafe chmod(path, 0o755) }
        configuration.executable = wrapper
    }
    let child = try Confinement.launch(configuration)
    defer {
        kill(child.id, SIGKILL)
        for descriptor in child.tcpListeners + child.dnsListeners + child.dnsSockets {
            close(descriptor)
        }
        if let attempts = child.attempts { close(attempts) }
        close(child.diagnosis)
        child.close()
    }
    if begins { try child.begin() }
    try body(child)
}
