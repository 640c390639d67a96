import Foundation
import Testing

/// `sallyport proxy --with-content` as a process of its own: the proxy and an origin for it.
final class ContentProxyProcess: Sendable {
    let proxyURL: String
    /// Of the content server.
    let url: String
    let secureURL: String
    let authorityPath: String
    let capture: Capture
    private let program: Program

    private struct ReadyLine: Decodable {
        struct Content: Decodable {
            let http: String
            let https: String
        }

        let listen: String
        let ca: String
        let content: Content
    }

    /// Starts it and waits until it is ready.
    init(in folder: Folder, _ options: [String] = []) async throws {
        let path = folder.path("test.sallyport")
        let program = try Program(
            .sallyport,
            [
                "proxy", "--listen", "127.0.0.1:0", "--with-content", "--content-listen",
                "127.0.0.1:0", "--content-tls-listen", "127.0.0.1:0", "--capture", path, "--json",
            ] + options, in: folder)
        let ready = try await program.ready(as: ReadyLine.self)
        self.program = program
        proxyURL = "http://\(ready.listen)"
        url = "http://\(ready.content.http)"
        secureURL = "https://\(ready.content.https)"
        authorityPath = ready.ca
        capture = Capture(path: path, folder: folder)
    }

    var memory: ProcessMemory { get throws { try ProcessMemory(of: program.processID) } }

    /// Ends it in order, by SIGTERM, and expects it to say so.
    func end() async throws {
        program.send(SIGTERM)
        let code = try await program.end()
        #expect(code == 0, "\(program.story)")
        #expect(program.errors.isEmpty, "\(program.story)")
    }
}
