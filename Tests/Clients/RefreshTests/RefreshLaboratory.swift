import Base
import ContentServer
import HTTPClient
import HTTPModel
import HTTPServer
import Origins
import Recording
import Sockets
import Synchronization
import Traffic

@testable import Refresh

/// A content server and a client, each on a loop of its own, and a folder for a store.
///
/// `@unchecked Sendable`: used on the client's loop.
final class RefreshLaboratory: @unchecked Sendable {
    let client: HTTPClient
    let loop: EventLoop
    let content: ContentServer
    let origin: String
    let folder: String
    let handover = CollectedHandover()

    init(
        _ client: HTTPClient, _ loop: EventLoop, _ content: ContentServer, origin: String,
        folder: String
    ) {
        self.client = client
        self.loop = loop
        self.content = content
        self.origin = origin
        self.folder = folder
    }

    func refresher(_ store: RefreshStore) -> FeedRefresher {
        FeedRefresher(client, store, handover: handover)
    }

    func store() throws(Failure) -> RefreshStore { try RefreshStore(folder: "\(folder)/store") }

    /// Tells the server something, and what it answered.
    @discardableResult
    func control(
        _ path: String, _ form: [(String, String)]? = nil
    ) async throws(Failure) -> String {
        let location = try OriginLocation(origin + path)
        let request = form.map { FeedRequest.form(location, $0) } ?? FeedRequest.get(location)
        return try await client.send(request).content.text
    }
}

/// Runs `body` with a laboratory; everything has ended and the folder is gone when it returns.
///
/// - Parameter answer: answers in place of the content server where it does.
func withLaboratory<Result: Sendable>(
    _ configuration: ContentServerConfiguration = ContentServerConfiguration(),
    _ clientConfiguration: ClientConfiguration = ClientConfiguration(),
    answering answer: @escaping @Sendable (ServerRequest) -> ServerResponse? = { _ in nil },
    _ body: @escaping @Sendable (RefreshLaboratory) async throws -> Result
) async throws -> Result {
    let folder = "/tmp/sallyport-refresh-\(UUIDText.random())"
    try Files.makeFolder(folder)
    defer { removeFolder(folder) }
    let loops = [try EventLoop(index: 0), try EventLoop(index: 1)]
    for loop in loops { startThread(named: "test loop") { loop.run() } }
    defer { for loop in loops { loop.stop() } }
    let content = ContentServer(configuration)
    let server = try HTTPServer(
        ports: [HTTPServer.Port(SocketAddress(address: [127, 0, 0, 1], port: 0))],
        loops: [loops[0]]
    ) { request, requestBody in
        if let response = answer(request) { return response }
        return await content.answer(request, requestBody)
    }
    let origin = "http://\(server.addresses[0])"
    // On its own loop: a client's time runs while others have the runner's threads.
    let served = Task(executorPreference: loops[0]) { await server.run() }
    do {
        let loop = loops[1]
        // What the server makes for an answer, it makes on the runner's threads, which others may keep.
        var patient = clientConfiguration
        patient.readTimeout = 600_000
        let result = try await Task(executorPreference: loop) { [patient] in
            let client = HTTPClient(
                patient, on: loop, recorder: TrafficRecorder(sink: NoTraffic()))
            let laboratory = RefreshLaboratory(
                client, loop, content, origin: origin, folder: folder)
            return try await client.run { try await body(laboratory) }
        }.value
        server.stop(grace: 1000)
        _ = await served.value
        return result
    } catch {
        server.stop(grace: 0)
        _ = await served.value
        throw error
    }
}

private func removeFolder(_ path: String) {
    do {
        for name in try Files.names(inFolder: path) {
            if name.hasSuffix("/") {
                removeFolder("\(path)/\(name.dropLast())")
            } else {
                Files.remove("\(path)/\(name)")
            }
        }
    } catch {
        return
    }
    Files.remove(path)
}

final class NoTraffic: TrafficSink {
    func submit(_ new: [TrafficEvent]) {}
    var isCongested: Bool { false }
    func whenRoom(_ resume: @escaping @Sendable () -> Void) { resume() }
}

/// `@unchecked Sendable`: used on one loop.
final class CollectedHandover: AssetHandover, @unchecked Sendable {
    var assets: [HandedAsset] = []
    /// What the next ones fail with.
    var failure: Failure?
    /// Called with how many there are.
    var onTake: (Int) -> Void = { _ in }

    func take(_ asset: HandedAsset) async throws(Failure) {
        if let failure { throw failure }
        assets.append(asset)
        onTake(assets.count)
    }
}
