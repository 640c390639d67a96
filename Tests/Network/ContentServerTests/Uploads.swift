import Base
import ContentServer
import Foundation
import HTTPModel
import HTTPServer
import Testing

/// A content server with a folder of uploads, which can be started anew.
final class UploadFixture {
    let folder: String
    private(set) var server: ContentServer
    private(set) var store: UploadStore?
    private let limits: UploadStore.Limits

    /// - Parameter original: a folder that is copied as it is now, which a server finds that starts
    ///   behind one that was killed; `nil` for an empty one.
    init(
        _ limits: UploadStore.Limits = UploadStore.Limits(), copying original: String? = nil
    ) throws {
        folder =
            FileManager.default.temporaryDirectory
            .appendingPathComponent("sallyport-uploads-\(UUID().uuidString)").path
        self.limits = limits
        if let original {
            try FileManager.default.copyItem(atPath: original, toPath: folder)
        }
        store = try UploadStore(path: folder, limits: limits)
        server = Self.server(store)
    }

    deinit {
        do {
            try FileManager.default.removeItem(atPath: folder)
        } catch {
            Issue.record("cannot remove \(folder): \(error)")
        }
    }

    private static func server(_ store: UploadStore?) -> ContentServer {
        var configuration = ContentServerConfiguration()
        configuration.uploads = store
        return ContentServer(configuration)
    }

    /// Forgets all that is in memory.
    func restart() throws {
        // Its folder is locked while it is there.
        (server, store) = (Self.server(nil), nil)
        store = try UploadStore(path: folder, limits: limits)
        server = Self.server(store)
    }

    struct Answer {
        let status: Int
        let fields: [ResponseField]
        let content: [UInt8]
        let interim: [[ResponseField]]

        subscript(name: String) -> String? {
            fields.first { $0.name.lowercased() == name.lowercased() }?.value
        }
    }

    /// Sends a request whose content comes in pieces.
    ///
    /// - Parameter failing: whether the client leaves behind the content.
    func send(
        _ method: String, _ path: String, _ headers: [(String, String)] = [],
        _ content: some Sequence<UInt8> = [], piece: Int = 1000, failing: Bool = false,
        length: UInt64? = nil
    ) async throws -> Answer {
        let content = [UInt8](content)
        let source = PiecesSource(content, piece: piece, failing: failing)
        let body = RequestBody(
            length: length ?? (failing ? nil : UInt64(content.count)), source: source)
        let response = await server.answer(try request(method, path, headers), body)
        return Answer(
            status: response.status, fields: response.fields,
            content: try await response.content(), interim: source.interim)
    }

    func send(_ row: [String]) async throws -> Answer {
        let headers = row.dropFirst(2).map { line in
            let name = line.prefix { $0 != ":" }
            return (String(name), String(line.dropFirst(name.count + 2)))
        }
        return try await send(row[0], row[1], headers)
    }
}

/// Content in pieces, and what the client is told meanwhile.
final class PiecesSource: RequestBodySource {
    private var rest: ArraySlice<UInt8>
    private let piece: Int
    private let failing: Bool
    var interim: [[ResponseField]] = []
    /// Called ahead of each read.
    var before: (() async -> Void)?
    /// Called ahead of each interim response.
    var beforeInform: (() async -> Void)?

    init(_ bytes: [UInt8], piece: Int, failing: Bool = false) {
        rest = bytes[...]
        self.piece = piece
        self.failing = failing
    }

    func read(into buffer: ByteBuffer) async throws(Failure) -> Int {
        await before?()
        let part = rest.prefix(min(piece, buffer.room))
        if part.isEmpty, failing {
            throw Failure("request-body", party: .client, "request body: incomplete")
        }
        buffer.append([UInt8](part))
        rest = rest.dropFirst(part.count)
        return part.count
    }

    var trailers: Fields { .none }
    func inform(_ status: Int, _ fields: [ResponseField]) async {
        await beforeInform?()
        interim.append(fields)
    }
    func wait(milliseconds: UInt64?) async -> Bool { true }
    func waitForWake(milliseconds: UInt64?) async -> Bool { true }
    var waker: @Sendable () -> Void { {} }
}
