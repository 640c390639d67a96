import Base
import Transfer

@testable import Refresh
@testable import Runs

extension FetchEvent {
    /// One of each kind, whose URLs hold a secret.
    static var samples: [FetchEvent] {
        let url = "https://example.org/a?access_token=kW8vQ2rT5yU1iO4pA7sD"
        let failure = Failure("timed-out", party: .origin, "\(url): it said nothing", hint: "wait")
        var good = FeedReport(url)
        good.status = 200
        good.retryAfter = 7
        var bad = FeedReport(url)
        bad.fail(failure)
        let task = TransferTask(
            TransferPlan(.download, url, file: "/a", session: "news"),
            identifier: UUIDText.text(seed: 1), createdAt: Timestamp(microseconds: 0))
        let asset = HandedAsset(url: url, name: "a", size: nil, isDiscretionary: true)
        let push = DevicePush(
            ordinal: 1,
            data: [UInt8](#"{"topic":"news","token":"ab","id":"1","silent":true}"#.utf8))
        let sockets: [DeviceSocket.Event] = [
            .registered(topic: "news", token: "ab"), .listening, .ended(failure, pause: 7),
            .ended(nil, pause: 7),
        ]
        let clients =
            [RefreshClient.Event.report(good, app: "news"), .report(bad, app: "news")]
            + (sockets + (push.map { [.push($0)] } ?? [])).map { .socket($0) }
            + [.merged(2), .failed(failure)]
            + RefreshDecision.samples.map { .decision($0, at: 0) }
        let configured = [
            "{}", #"{"interval":"never","feeds":["\#(url)"],"allowsCellular":false,"a":1}"#,
        ].compactMap { text in
            do throws(Failure) {
                return Kind.configured(
                    try ManagedConfiguration([UInt8](text.utf8), from: "a.example"))
            } catch {
                return nil
            }
        }
        let others: [Kind] = [
            .handedOver(asset, task: "1"), .transferred(task, isInPlace: true),
            .transferred(task, isInPlace: false), .transferFailed(task, failure),
            .loginWanted(task), .transfersUnheard(failure, pause: 7), .note("torn"),
        ]
        return (clients.map { .client($0) } + others + configured).map {
            FetchEvent(at: 0, kind: $0)
        }
    }
}

extension RefreshDecision {
    fileprivate static var samples: [RefreshDecision] {
        let token = WakeToken(number: 1)
        return [
            .window(.screen, until: 1),
            .wake(
                Wake(
                    token: token, app: "news", mode: .launched, cause: .transfer,
                    isCoalesced: false, usesSideBuffer: false, deadline: 1)),
            .finished(token, "news", .newData, nextAfter: 1), .snapshot("news"),
            .violation(.lateCompletion, token, "news"), .terminated("news"),
            .held("news", .budget), .deferred("news", .locked), .dropped("news", .removed),
            .banner("news"), .delivered("news"), .transfersEnded("news"),
            .merge("news", count: 2), .foreground("news"), .ask("news"),
        ]
    }
}
