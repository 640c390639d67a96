import Foundation
import Testing

/// `sallyport content` as a process of its own, with a state folder of its own.
final class ContentProcess: Sendable {
    let port: UInt16
    let securePort: UInt16
    let authorityPath: String
    private let program: Program

    private struct ReadyLine: Decodable {
        let schema: String
        let http: String
        let https: String
        let ca: String
        let pid: Int32
    }

    /// Starts it and waits until it is ready.
    ///
    /// - Parameters:
    ///   - root: the folder that it serves, if any.
    ///   - options: more of its options.
    ///   - variables: added to those that every program gets.
    init(
        in folder: Folder, root: String? = nil, options: [String] = [],
        variables: [String: String] = [:]
    ) async throws {
        let program = try Program(
            .sallyport,
            [
                "content", "--listen", "127.0.0.1:0", "--tls-listen", "127.0.0.1:0", "--json",
            ] + (root.map { ["--root", $0] } ?? []) + options, in: folder,
            variables: variables)
        let ready = try await program.ready(as: ReadyLine.self)
        try #require(ready.schema == "sallyport.content/1")
        self.program = program
        port = try Self.port(of: ready.http)
        securePort = try Self.port(of: ready.https)
        authorityPath = ready.ca
    }

    var url: String { "http://127.0.0.1:\(port)" }
    var secureURL: String { "https://localhost:\(securePort)" }
    var memory: ProcessMemory { get throws { try ProcessMemory(of: program.processID) } }

    /// Ends it in order, by SIGTERM, and expects it to say so.
    func end() async throws {
        program.send(SIGTERM)
        let code = try await program.end()
        #expect(code == 0, "\(program.story)")
        #expect(program.errors.isEmpty, "\(program.story)")
    }

    /// Ends it as a crash would.
    func kill() { program.send(SIGKILL) }

    private static func port(of address: String) throws -> UInt16 {
        try #require(address.split(separator: ":").last.flatMap { UInt16($0) })
    }
}
