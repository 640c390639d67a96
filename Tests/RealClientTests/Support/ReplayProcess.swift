import Foundation
import Testing

/// `sallyport replay origin` as a process of its own.
final class ReplayProcess: Sendable {
    /// Address and port.
    let address: String
    let authorityPath: String
    let processID: Int32
    private let program: Program

    private struct ReadyLine: Decodable {
        let listen: String
        let ca: String
    }

    /// A line on standard error.
    struct Miss: Decodable {
        let schema: String
        let reason: String
        let method: String
        let url: String
        let nearest: Nearest?

        struct Nearest: Decodable {
            let exchange: Int64
        }
    }

    /// Starts it and waits until it is ready.
    ///
    /// - Parameter isAlone: whether it runs in a network namespace where there is nobody else; only
    ///   root can make one.
    init(
        _ capture: Capture, in folder: Folder, isAlone: Bool = false, _ options: [String] = []
    ) async throws {
        let arguments =
            ["replay", "origin", capture.path, "--listen", "127.0.0.1:0", "--json"] + options
        if isAlone {
            let tool = try #require(Peer.sallyport.path)
            // The loopback interface of a new namespace is down.
            program = try Program(
                .unshare,
                ["--net", "sh", "-c", "ip link set lo up && exec \"$@\"", "sh", tool] + arguments,
                in: folder)
        } else {
            program = try Program(.sallyport, arguments, in: folder)
        }
        let ready = try await program.ready(as: ReadyLine.self)
        address = ready.listen
        authorityPath = ready.ca
        processID = program.processID
    }

    var url: String { "http://\(address)" }

    var port: UInt16 {
        get throws {
            try #require(address.split(separator: ":").last.flatMap { UInt16($0) })
        }
    }

    /// Ends it in order, and returns what it had no answer for.
    ///
    /// - Parameter code: what it must exit with; by its misses if that is not given.
    @discardableResult
    func end(code expected: Int32? = nil) async throws -> [Miss] {
        program.send(SIGTERM)
        let code = try await program.end()
        let misses = try program.errors.split(separator: 0x0A).map {
            try JSONDecoder().decode(Miss.self, from: Data($0))
        }
        #expect(code == expected ?? (misses.isEmpty ? 0 : 1), "\(program.story)")
        return misses
    }
}
