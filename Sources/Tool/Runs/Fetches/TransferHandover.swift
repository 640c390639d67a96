internal import Base
internal import Refresh
internal import Sockets
internal import Transfer

/// Leaves whole files to the transfer daemon: one counts as handed over when the daemon has written
/// it down.
///
/// `@unchecked Sendable`: used on its loop.
final class TransferHandover: AssetHandover, @unchecked Sendable {
    private var configuration: FetchConfiguration
    private let start: (() throws(Failure) -> DaemonProcess)?
    private let loop: EventLoop
    private let tell: (FetchEvent.Kind) -> Void
    /// What the daemon has of this session; `nil` if it has not been asked.
    private var known: Set<String>?
    private var isBusy = false
    private var waiting: [CheckedContinuation<Void, Never>] = []
    /// Called when the daemon has got something.
    var onHandover: () -> Void = {}

    /// - Parameter start: starts the daemon; `nil` if none is to be started.
    init(
        _ configuration: FetchConfiguration, on loop: EventLoop,
        starting start: (() throws(Failure) -> DaemonProcess)?,
        tell: @escaping (FetchEvent.Kind) -> Void
    ) {
        self.configuration = configuration
        self.loop = loop
        self.start = start
        self.tell = tell
    }

    /// The same file is left to the daemon once: not while it has it, nor when it is there.
    ///
    /// Errors: those of the daemon and of the files.
    func take(_ asset: HandedAsset) async throws(Failure) {
        await enter()
        defer { leave() }
        try Files.makeFolder(configuration.assetsFolder)
        let plan = plan(of: asset)
        guard let file = plan.file, !Files.exists(file) else { return }
        let connection = try await open()
        defer { connection.close() }
        guard try await !has(asset.url, connection) else { return }
        for task in try await connection.tasks(.add(plan)) {
            tell(.handedOver(asset, task: task.identifier))
        }
        known?.insert(asset.url)
        onHandover()
    }

    /// From now on, for what is left to the daemon then.
    func configure(allowsCellular: Bool) { configuration.app.allowsCellular = allowsCellular }

    /// The daemon no longer has it.
    func forget(_ url: String) { known?.remove(url) }

    func open() async throws(Failure) -> DaemonConnection {
        try await DaemonConnection.open(configuration.transfers, on: loop, starting: start)
    }

    func plan(of asset: HandedAsset) -> TransferPlan {
        var plan = TransferPlan(
            .download, asset.url, file: "\(configuration.assetsFolder)/\(asset.name)",
            session: configuration.app.name)
        // A wake's are discretionary, whatever is asked for.
        plan.options.isFromWake = asset.isDiscretionary
        // Feeds name it.
        plan.options.isFromStranger = true
        plan.options.allowsCellular = configuration.app.allowsCellular
        plan.options.authorities = configuration.authoritiesPath
        plan.options.byteLimit = Self.byteLimit(of: asset)
        return plan
    }

    /// What a feed says of a file's size is often a little wrong, as nothing (0) altogether, and may be
    /// anything: in bytes.
    static func byteLimit(of asset: HandedAsset) -> Int64 {
        guard let size = asset.size, size > 0 else { return unknownLimit }
        return min(size, largest) * 2 + (1 << 20)
    }

    /// In bytes, of a file whose size is not known.
    private static let unknownLimit: Int64 = 1 << 30
    /// In bytes: half of what is fetched whatever a feed says.
    private static let largest: Int64 = 8 << 30

    private func has(
        _ url: String, _ connection: DaemonConnection
    ) async throws(Failure) -> Bool {
        if let known { return known.contains(url) }
        let tasks = try await connection.tasks(.list(session: configuration.app.name))
        let going = tasks.filter { !$0.state.isFinal || $0.state == .completed }
        let urls = Set(going.map(\.url))
        known = urls
        return urls.contains(url)
    }

    /// One after the other: two feeds may have the same file.
    private func enter() async {
        guard isBusy else {
            isBusy = true
            return
        }
        await withCheckedContinuation { waiting.append($0) }
    }

    private func leave() {
        guard !waiting.isEmpty else {
            isBusy = false
            return
        }
        waiting.removeFirst().resume()
    }
}
