package import Base
internal import Contents
package import HTTPClient
internal import HTTPCodecs
internal import HTTPModel
internal import Origins
package import Sockets

/// A device's end of a push service: puts its apps on the device, listens, acknowledges what was
/// taken, and connects again when the connection ends.
///
/// Tokens are never kept: each connection begins with a registration, as a service may have given
/// an app another one.
///
/// `@unchecked Sendable`: used on the client's loop.
package final class DeviceSocket: @unchecked Sendable {
    package struct Configuration: Sendable {
        /// The service, such as `http://localhost:8081`.
        package var service: String
        package var device: String
        package var topics: [String]
        /// What pauses are drawn from.
        package var seed: UInt64 = 1

        package init(service: String, device: String, topics: [String]) {
            self.service = service
            self.device = device
            self.topics = topics
        }
    }

    /// What is told of it.
    package enum Event: Sendable, Equatable {
        case registered(topic: String, token: String)
        case listening
        case push(DevicePush)
        /// It connects again after so many milliseconds.
        case ended(Failure?, pause: Int64)
    }

    private let client: HTTPClient
    private let configuration: Configuration
    private let base: OriginLocation
    private let signal: LoopWakeup
    private var rule: ReconnectRule
    private var reception: DeviceReception?
    private var stop: ClientStop?
    /// Ends registrations and acknowledgements, of which there is one at a time.
    private let requestStop = ClientStop()
    private var isStopping = false
    /// By topic.
    package private(set) var tokens: [String: String] = [:]

    /// - Parameter client: one that runs, on this loop.
    ///
    /// Errors: `url-invalid`.
    package init(
        _ client: HTTPClient, _ configuration: Configuration, on loop: EventLoop
    ) throws(Failure) {
        self.client = client
        self.configuration = configuration
        base = try OriginLocation(configuration.service)
        signal = LoopWakeup(loop)
        rule = ReconnectRule(seed: configuration.seed)
    }

    /// Ends ``run(_:)``, also while it waits.
    package func close() {
        isStopping = true
        stop?.stop()
        requestStop.stop()
        signal.wake()
    }

    /// Listens until it is closed. A push is acknowledged when `tell` has returned.
    package func run(_ tell: (Event) async -> Void) async {
        while !isStopping {
            var failure: Failure?
            do throws(Failure) {
                try await listen(tell)
            } catch {
                failure = error
            }
            guard !isStopping else { return }
            let pause = rule.noteEnd()
            await tell(.ended(failure, pause: pause))
            _ = await signal.wait(until: signal.loop.now + UInt64(pause))
        }
    }

    private func listen(_ tell: (Event) async -> Void) async throws(Failure) {
        for topic in configuration.topics {
            let token = try await register(topic)
            if tokens[topic] != token { await tell(.registered(topic: topic, token: token)) }
            tokens[topic] = token
        }
        guard let topic = configuration.topics.first, let token = tokens[topic], !isStopping else {
            return
        }
        let reception = DeviceReception(signal)
        let stop = ClientStop()
        (self.reception, self.stop) = (reception, stop)
        defer { (self.reception, self.stop) = (nil, nil) }
        var request = FeedRequest.get(
            try base.following("/push/devices/\(token)/events"), [("Accept", "text/event-stream")])
        request.reception = reception
        request.stop = stop
        async let end = outcome(of: request, reception)
        var isListening = false
        while true {
            if reception.isAnswered, !isListening {
                isListening = true
                rule.noteSuccess()
                await tell(.listening)
            }
            while !isStopping, let push = reception.next() {
                await tell(.push(push))
                await acknowledge(push, token)
            }
            guard !reception.isOver else { break }
            _ = await signal.wait(until: .max)
        }
        if let failure = await end { throw failure }
    }

    private func outcome(of request: ClientRequest, _ reception: DeviceReception) async -> Failure?
    {
        var failure: Failure?
        do throws(Failure) {
            let response = try await client.send(request)
            if response.head.status != 200 {
                failure = Failure(
                    "push-status", party: .origin,
                    "\(base.target.authority): status \(response.head.status) to a device")
            }
        } catch {
            failure = error
        }
        reception.end()
        return failure
    }

    /// Puts an app on the device.
    ///
    /// - Returns: its token, which its server is to be told.
    private func register(_ topic: String) async throws(Failure) -> String {
        var request = FeedRequest.form(
            try base.following("/push/devices"),
            [("device", configuration.device), ("topic", topic)])
        request.stop = requestStop
        let response = try await client.send(request)
        let token = JSONObject(response.content)?.text("token") ?? ""
        let isToken =
            (1...200).contains(token.utf8.count)
            && token.utf8.allSatisfy { $0.isASCIILetter || $0.isASCIIDigit }
        guard response.head.status == 201, isToken else {
            throw Failure(
                "push-status", party: .origin,
                "\(base.target.authority): status \(response.head.status) to a registration",
                hint: "the service takes devices of its own machine only")
        }
        return token
    }

    /// What cannot be acknowledged comes again.
    private func acknowledge(_ push: DevicePush, _ token: String) async {
        do throws(Failure) {
            var request = FeedRequest.form(
                try base.following("/push/devices/\(token)/acknowledge"),
                [("id", String(push.ordinal))])
            request.stop = requestStop
            _ = try await client.send(request)
        } catch {
            return
        }
    }
}

/// Takes the events of one connection as they come.
///
/// `@unchecked Sendable`: used on the client's loop.
private final class DeviceReception: ClientReception, @unchecked Sendable {
    private let signal: LoopWakeup
    private var reader = DeviceEventReader()
    private var pushes: [DevicePush] = []
    private(set) var isAnswered = false
    private(set) var isOver = false
    /// A service has no more under way to one device.
    private static let countLimit = 64

    init(_ signal: LoopWakeup) {
        self.signal = signal
    }

    func takeInterim(_ head: ResponseHead) {}

    func take(_ head: ResponseHead) -> Bool {
        isAnswered = head.status == 200
        signal.wake()
        return isAnswered
    }

    func take(_ piece: Span<UInt8>) {
        pushes += reader.read(piece)
        signal.wake()
    }

    func waitForRoom() async -> Bool { !reader.isOverlong && pushes.count <= Self.countLimit }

    func next() -> DevicePush? { pushes.isEmpty ? nil : pushes.removeFirst() }

    func end() {
        isOver = true
        signal.wake()
    }
}
