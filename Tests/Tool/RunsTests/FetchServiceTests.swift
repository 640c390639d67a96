import Base
import Foundation
import Refresh
import Runs
import Sockets
import Synchronization
import Testing

/// The fetch client as a command runs it, against a content server.
@Suite(.serialized) struct FetchServiceTests {
    private static let rows: [(String, [FetchOutcome])] = [
        ("/feeds/json/news?steps=new,none", [.upToDate, .upToDate]),
        ("/feeds/rss/news?steps=fail,new", [.failed]),
        ("/feeds/atom/news?steps=gone", [.upToDate, .unasked]),
        ("/status/404", [.failed]),
    ]

    @Test(.timeLimit(.minutes(10)), arguments: rows)
    func fetchesOnce(_ path: String, _ outcomes: [FetchOutcome]) async throws {
        try await Self.withContent { server, device, folder in
            for outcome in outcomes {
                let service = try await FetchService(
                    Self.configuration("http://\(server)\(path)", folder), startingDaemon: nil
                ) { device.note($0) }
                #expect(try await service.refreshOnce() == outcome)
            }
        }
    }

    @Test func isAloneInItsFolder() async throws {
        let folder = Self.freshFolder()
        try Files.makeFolder(folder)
        let configuration = Self.configuration("http://127.0.0.1:1/", folder)
        let first = try await FetchService(configuration, startingDaemon: nil) { _ in }
        await #expect {
            _ = try await FetchService(configuration, startingDaemon: nil) { _ in }
        } throws: {
            ($0 as? Failure)?.code == "store-in-use"
        }
        first.end()
        try FileManager.default.removeItem(atPath: folder)
    }

    /// Who may write to the folder, or put a link in its place, has files written.
    @Test(arguments: ["a link", "a link/", "open to all"])
    func hasItsFolderAlone(_ what: String) async throws {
        let folder = Self.freshFolder()
        try Files.makeFolder(folder + "/real")
        var configuration = Self.configuration("http://127.0.0.1:1/", folder)
        if what == "open to all" {
            try FileManager.default.setAttributes(
                [.posixPermissions: 0o777], ofItemAtPath: folder + "/real")
            configuration.store = folder + "/real"
        } else {
            try FileManager.default.createSymbolicLink(
                atPath: folder + "/store", withDestinationPath: folder + "/real")
            if what.hasSuffix("/") { configuration.store += "/" }
        }
        await #expect {
            _ = try await FetchService(configuration, startingDaemon: nil) { _ in }
        } throws: {
            ($0 as? Failure)?.code == "folder-not-private"
        }
        #expect(try Files.names(inFolder: folder + "/real").isEmpty)
        try FileManager.default.removeItem(atPath: folder)
    }

    @Test(.timeLimit(.minutes(10))) func saysWhoCannotBeReached() async throws {
        try await Self.withContent { server, device, folder in
            var configuration = Self.configuration("http://\(server)/feeds/json/news", folder)
            configuration.managed = "http://127.0.0.1:1"
            let notes = Mutex<[String]>([])
            let service = try await FetchService(configuration, startingDaemon: nil) { event in
                if case .note(let text) = event.kind { notes.withLock { $0.append(text) } }
            }
            #expect(try await service.refreshOnce() == .upToDate)
            let told = notes.withLock { $0 }
            #expect(!told.isEmpty)
            #expect(told.allSatisfy { $0.hasPrefix("the management server: ") }, "\(told)")
        }
    }

    /// The dictionary is in the place of the command line, and what was made of it is told; a second
    /// run tells its own.
    @Test(.timeLimit(.minutes(10))) func isConfiguredByItsManagers() async throws {
        try await Self.withContent { server, device, folder in
            let feed = "http://\(server)/feeds/atom/managed?steps=new"
            try await device.send(
                "PUT", "/managed/app/configuration", [],
                "{\"feeds\":[\"\(feed)\"],\"interval\":true,\"colour\":\"red\"}")
            var configuration = Self.configuration("http://\(server)/status/404", folder)
            configuration.managed = "http://\(server)"
            for _ in 0..<2 {
                let service = try await FetchService(configuration, startingDaemon: nil) {
                    device.note($0)
                }
                #expect(try await service.refreshOnce() == .upToDate)
            }
            #expect(
                try await device.get("/managed/app/feedback")
                    == #"{"ignoredKeys":2,"newData":2,"wrongValues":2}"# + "\n")
            try await device.send(
                "PUT", "/managed/app/configuration", [], #"{"password":"x"}"#)
            let service = try await FetchService(configuration, startingDaemon: nil) { _ in }
            await #expect {
                _ = try await service.refreshOnce()
            } throws: {
                ($0 as? Failure)?.code == "managed-secret"
            }
        }
    }

    /// What whoever hears cannot take ends the run, with that error.
    @Test(.timeLimit(.minutes(10))) func endsWhenNobodyListens() async throws {
        try await Self.withContent { server, _, folder in
            let service = try await FetchService(
                Self.configuration("http://\(server)/feeds/json/news", folder),
                startingDaemon: nil
            ) { _ throws(Failure) in
                throw Failure("output-closed", party: .client, "nobody reads")
            }
            service.note(.opened("app"))
            await #expect {
                try await service.run()
            } throws: {
                ($0 as? Failure)?.code == "output-closed"
            }
        }
    }

    // MARK: The stage

    private static func freshFolder() -> String {
        "/tmp/sallyport-fetch-\(UUID().uuidString.prefix(8))"
    }

    private static func configuration(_ url: String, _ folder: String) -> FetchConfiguration {
        var configuration = FetchConfiguration()
        configuration.urls = [url]
        configuration.store = folder + "/store"
        return configuration
    }

    private static func withContent(
        _ body: (SocketAddress, FetchDevice, _ folder: String) async throws -> Void
    ) async throws {
        let folder = freshFolder()
        try Files.makeFolder(folder)
        let loops = try EventLoops(count: 1)
        defer { loops.stop() }
        let anywhere = HostPort(host: "127.0.0.1", port: 0)
        var options = ContentOptions()
        options.listen = anywhere
        options.tlsListen = anywhere
        let content = try ContentService(
            options, variables: ["XDG_STATE_HOME": folder], loops: loops.all)
        async let served = content.run()
        let mine = try EventLoops(count: 1)
        defer { mine.stop() }
        do {
            try await body(content.http, FetchDevice(content.http, on: mine.all[0]), folder)
        } catch {
            content.stop()
            _ = await served
            throw error
        }
        content.stop()
        _ = await served
        try FileManager.default.removeItem(atPath: folder)
    }
}
