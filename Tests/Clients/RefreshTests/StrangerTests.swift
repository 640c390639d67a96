import Base
import ContentServer
import HTTPClient
import HTTPServer
import Sockets
import Synchronization
import Testing

@testable import Refresh

/// Servers that send without end, or more than anybody can take.
struct StrangerTests {
    /// Spaces without end.
    private final class Endless: ResponseBodySource {
        private let onRead: () -> Void

        init(_ onRead: @escaping () -> Void) {
            self.onRead = onRead
        }

        func read(into buffer: ByteBuffer) async throws(ResponseInterruption) -> Int {
            onRead()
            let count = min(buffer.room, 16_384)
            buffer.append([UInt8](repeating: 0x20, count: count))
            return count
        }
    }

    private static func endless(
        _ status: Int, _ onRead: @escaping () -> Void = {}
    ) -> ServerResponse {
        ServerResponse(status, body: .stream(length: nil, Endless(onRead)))
    }

    private static var bounded: ClientConfiguration {
        var configuration = ClientConfiguration()
        configuration.endsBeyondKept = true
        return configuration
    }

    @Test(.timeLimit(.minutes(10))) func readsNoContentWithoutEnd() async throws {
        let codes = try await withLaboratory(ContentServerConfiguration(), Self.bounded) {
            $0.path.raw.starts(with: "/feeds".utf8) ? Self.endless(200) : Self.endless(201)
        } _: { laboratory in
            let feed = await laboratory.refresher(try laboratory.store()).refresh(
                FeedRefresher.Request("\(laboratory.origin)/feeds/x", at: 1))
            let managed = try ManagedClient(laboratory.client, server: laboratory.origin, app: "a")
            var codes = [feed.failure?.code]
            do throws(Failure) { _ = try await managed.read() } catch { codes.append(error.code) }
            let socket = try DeviceSocket(
                laboratory.client,
                DeviceSocket.Configuration(
                    service: laboratory.origin, device: "d", topics: ["a"]),
                on: laboratory.loop)
            await socket.run { event in
                guard case .ended(let failure, _) = event else { return }
                codes.append(failure?.code)
                socket.close()
            }
            return codes
        }
        #expect(codes == ["feed-unreadable", "managed-status", "push-status"])
    }

    /// Who ends waits for no answer, not even where it may be of any length.
    @Test(.timeLimit(.minutes(10)), arguments: ["managed", "register"])
    func stopsInAContent(_ what: String) async throws {
        let ending = Ending()
        let code = try await withLaboratory { _ in
            Self.endless(201) { ending.end() }
        } _: { laboratory in
            if what == "managed" {
                let client = try ManagedClient(
                    laboratory.client, server: laboratory.origin, app: "a")
                ending.set { laboratory.loop.execute { client.cut() } }
                do throws(Failure) { _ = try await client.read() } catch { return error.code }
                return ""
            }
            let socket = try DeviceSocket(
                laboratory.client,
                DeviceSocket.Configuration(
                    service: laboratory.origin, device: "d", topics: ["a"]),
                on: laboratory.loop)
            ending.set { laboratory.loop.execute { socket.close() } }
            await socket.run { _ in Issue.record("an event") }
            return "stopped"
        }
        #expect(code == "stopped")
    }

    /// Who is stopped waits no longer for a feed that another fetches.
    @Test(.timeLimit(.minutes(10))) func leavesTheQueueOfAFeed() async throws {
        let begun = Ending()
        let codes = try await withLaboratory { _ in
            Self.endless(200) { begun.end() }
        } _: { laboratory in
            let refresher = laboratory.refresher(try laboratory.store())
            let stops = (0..<3).map { _ in ClientStop() }
            begun.set { laboratory.loop.execute { stops[1].stop() } }
            let fetch = { @Sendable (_ stop: ClientStop) in
                var request = FeedRefresher.Request("\(laboratory.origin)/feed", at: 1)
                request.stop = stop
                return await refresher.refresh(request).failure?.code
            }
            async let first = fetch(stops[0])
            async let second = fetch(stops[1])
            var codes = [await second]
            stops[2].stop()
            codes.append(await fetch(stops[2]))
            stops[0].stop()
            return codes + [await first]
        }
        #expect(codes == ["stopped", "stopped", "stopped"])
    }

    private static func feed(_ count: Int) -> ServerResponse {
        let items = (0..<count).map {
            #"{"id":"\#($0)","attachments":[{"url":"/a/\#($0)"}]}"#
        }.joined(separator: ",")
        return ServerResponse(
            200, [ResponseField("ETag", "\"1\"")],
            body: .bytes(
                [UInt8](
                    #"{"version":"https://jsonfeed.org/version/1.1","items":[\#(items)]}"#.utf8)))
    }

    /// More files than one refresh hands over: the rest is new the next time.
    @Test func handsOverSoManyFiles() async throws {
        let counts = try await withLaboratory { _ in
            Self.feed(450)
        } _: { laboratory in
            let refresher = laboratory.refresher(try laboratory.store())
            var counts: [Int] = []
            for now in 1...4 as ClosedRange<Int64> {
                let request = FeedRefresher.Request("\(laboratory.origin)/feed", at: now)
                let report = await refresher.refresh(request)
                counts += [report.handedCount, report.items.count]
            }
            return counts + [Set(laboratory.handover.assets.map(\.url)).count]
        }
        #expect(counts == [200, 200, 200, 200, 50, 50, 0, 0, 450])
    }

    /// Pages behind a cursor: what was left out of one is asked for again with its cursor.
    @Test func takesPagesUpAgain() async throws {
        let (ids, cursors) = try await withLaboratory { request in
            let number = request.path.queryValue("after").flatMap { Int($0.text) } ?? 0
            let items = (0..<(number < 4 ? 150 : 0)).map {
                #"{"id":"\#(number)-\#($0)","attachments":[{"url":"/a/\#(number)-\#($0)"}]}"#
            }.joined(separator: ",")
            let next = min(4, number + 1)
            return ServerResponse(
                200, type: "application/json",
                #"{"items":[\#(items)],"next":"\#(next)","more":\#(number < 4)}"#)
        } _: { laboratory in
            let store = try laboratory.store()
            let refresher = laboratory.refresher(store)
            let url = "\(laboratory.origin)/feed"
            var cursors: [String?] = []
            var ids: [String] = []
            for now in 1...4 as ClosedRange<Int64> {
                let report = await refresher.refresh(FeedRefresher.Request(url, at: now))
                ids += report.items.map(\.id)
                cursors.append(store.state(of: url).cursor)
            }
            return (ids, cursors)
        }
        #expect(ids.count == 600)
        #expect(Set(ids).count == 600)
        #expect(cursors == ["1", "2", "4", "4"])
    }

    /// A wake that is ended keeps what it has, and the next one takes the rest.
    @Test func stopsAtAnItem() async throws {
        let counts = try await withLaboratory { _ in
            Self.feed(10)
        } _: { laboratory in
            let refresher = laboratory.refresher(try laboratory.store())
            var request = FeedRefresher.Request("\(laboratory.origin)/feed", at: 1)
            let stop = ClientStop()
            request.stop = stop
            laboratory.handover.onTake = { if $0 == 4 { stop.stop() } }
            let first = await refresher.refresh(request)
            request.stop = nil
            let second = await refresher.refresh(request)
            return [first.items.count, first.handedCount, second.items.count]
        }
        #expect(counts == [3, 4, 7])
    }
}

/// Ends something once, from another thread.
private final class Ending: Sendable {
    private let action = Mutex<(@Sendable () -> Void)?>(nil)

    func set(_ new: @escaping @Sendable () -> Void) { action.withLock { $0 = new } }

    func end() { action.withLock { $0 }?() }
}
