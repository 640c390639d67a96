import Foundation
import Testing

/// `sallyport proxy` as a process of its own, with a state folder of its own.
final class ProxyProcess: Sendable {
    /// Address and port.
    let address: String
    let authorityPath: String
    let capture: Capture
    /// All ways in, in the order of the options.
    let ports: [Port]
    private let program: Program

    struct Port: Decodable, Sendable {
        let listen: String
        let mode: String
    }

    private struct ReadyLine: Decodable {
        let schema: String
        let listen: String
        let ports: [Port]
        let ca: String
        let capture: String
        let pid: Int32
    }

    /// Starts it and waits until it is ready.
    ///
    /// - Parameter reverse: whether it is a server in front of the origin, and no explicit proxy.
    convenience init(
        for origin: Origin, in folder: Folder, capture name: String = "test.sallyport",
        reverse: Bool = false, _ options: [String] = []
    ) async throws {
        try await self.init(
            trusting: origin.authority, reverse: reverse ? origin.url : nil, in: folder,
            capture: name, options)
    }

    /// Starts it and waits until it is ready.
    ///
    /// - Parameters:
    ///   - authority: of its origins.
    ///   - origin: the only one, whose place it takes; `nil` for an explicit proxy.
    init(
        trusting authority: TestAuthority, reverse origin: String?, in folder: Folder,
        capture name: String = "test.sallyport", _ options: [String] = []
    ) async throws {
        let mode = origin.map { ["--mode", "reverse:\($0)"] } ?? []
        let path = folder.path(name)
        let program = try Program(
            .sallyport,
            [
                "proxy", "--listen", "127.0.0.1:0", "--capture", path, "--json",
                "--origin-ca", authority.certificatePath,
            ] + mode + options, in: folder)
        let ready = try await program.ready(as: ReadyLine.self)
        try #require(ready.schema == "sallyport.ready/1")
        #expect(ready.pid == program.processID)
        #expect(ready.capture == path)
        self.program = program
        address = ready.listen
        ports = ready.ports
        authorityPath = ready.ca
        capture = Capture(path: path, folder: folder)
    }

    var url: String { "http://\(address)" }
    var processID: Int32 { program.processID }

    /// Ends it in order, by SIGTERM, and expects it to say so.
    func end() async throws {
        program.send(SIGTERM)
        let code = try await program.end()
        #expect(code == 0, "\(program.story)")
        #expect(program.errors.isEmpty, "\(program.story)")
    }

    /// Ends it as a crash does.
    func kill() async throws {
        program.send(SIGKILL)
        _ = try await program.end()
    }
}

extension Peer {
    /// The tool itself, from the folder where the tests were built.
    static let sallyport: Peer = {
        for argument in CommandLine.arguments where argument.contains(".xctest") {
            var folder = URL(fileURLWithPath: argument)
            while folder.pathComponents.count > 1 {
                folder.deleteLastPathComponent()
                let peer = Peer("sallyport", at: folder.appendingPathComponent("sallyport").path)
                if peer.path != nil { return peer }
            }
        }
        return Peer("sallyport", at: "\(projectFolder)/.build/debug/sallyport")
    }()
}

extension Program {
    /// Waits for the line of JSON that it says first.
    func ready<Line: Decodable>(as type: Line.Type) async throws -> Line {
        let line = try await eventually("the ready line of \(story)") { () -> Data? in
            let said = output
            if said.last == UInt8(ascii: "\n") { return said }
            if !isRunning { throw Trouble("ended: \(story)") }
            return nil
        }
        return try JSONDecoder().decode(type, from: line)
    }
}
