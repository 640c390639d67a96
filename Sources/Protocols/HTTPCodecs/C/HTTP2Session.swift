package import Base
internal import CNgHTTP2
internal import HTTPModel

/// One end of a connection of HTTP/2, without a socket: the peer's bytes go in, ours come out.
///
/// Windows are only opened by `consume`, so that a slow receiver slows the sender down. Not
/// `Sendable`: one task drives it.
@safe
package final class HTTP2Session {
    package enum Role: Sendable {
        case server
        case client
    }

    package let role: Role
    private let limits: HTTP2Limits
    private var pointer: OpaquePointer?
    private var frames: HTTP2FrameReader
    /// The start of a frame's head whose rest has not come.
    private var frameHead: [UInt8] = []
    private var events: [HTTP2Event] = []
    /// The header block that is being decoded.
    private var block = HTTP2HeaderBlock()
    private var isRequestBlock = false
    private var invalidField: String?
    private var failureDetail: String?
    /// Why the connection was ended by a GOAWAY of ours; `nil` while all is well.
    package private(set) var failure: HTTP2Violation?
    private var bodies: [Int32: OutgoingBody] = [:]
    /// Room of contents that were sent, for the next ones.
    private var spareRooms: [[UInt8]] = []
    /// Streams whose content has been taken down to where more may come.
    private var drained: [Int32] = []
    private var lateResets = LateResets()
    private var resetsBehind = ResetsBehindContent()
    /// Streams that we reset by ourselves, or whose reset the peer has been charged with, until the
    /// frame is sent.
    private var knownResets: Set<Int32> = []
    /// What the peer provoked too much of, until it is thrown.
    private var provokedFlood: HTTP2Flood?
    /// Interim responses by stream, until the final one: how many, and in bytes.
    private var interims: [Int32: (count: Int, size: Int)] = [:]
    /// Interim responses that nobody has taken yet, of all streams, in bytes.
    private var waitingInterims = 0
    /// Requests that are not allowed and are answered before their stream is reset.
    private var malformedRequests: Set<Int32> = []
    /// Frames of our own making that go out ahead of the library's next one.
    private var framesAhead: [UInt8] = []
    /// The clock of the last `receive`.
    private var now: UInt64 = 0
    private var output: ByteBuffer?
    package private(set) var peerSettings = HTTP2PeerSettings()
    /// Whether the peer has taken our settings: it reads and answers what we say.
    package private(set) var hasAcknowledged = false

    /// Content of one stream that may wait to be sent, in bytes.
    package static let outgoingLimit = 64 << 10

    package init(
        role: Role, limits: HTTP2Limits = HTTP2Limits(), allowsExtendedConnect: Bool = false
    ) {
        self.role = role
        self.limits = limits
        frames = HTTP2FrameReader(
            skippingPreface: role == .server, countsStrays: role == .client)
        var made: OpaquePointer?
        let me = unsafe Unmanaged.passUnretained(self).toOpaque()
        let library = HTTP2Library.shared
        let status =
            switch role {
            case .server:
                unsafe nghttp2_session_server_new2(
                    &made, library.callbacks, me, library.options)
            case .client:
                unsafe nghttp2_session_client_new2(
                    &made, library.callbacks, me, library.options)
            }
        guard status == 0, let made = unsafe made else { preconditionFailure("out of memory") }
        unsafe pointer = made
        submitSettings(allowsExtendedConnect)
    }

    deinit {
        unsafe nghttp2_session_del(pointer)
    }

    private func submitSettings(_ allowsExtendedConnect: Bool) {
        var entries = [
            nghttp2_setting(3, limits.concurrentStreams),
            nghttp2_setting(4, UInt32(limits.streamWindow)),
            nghttp2_setting(6, UInt32(limits.headSize)),
        ]
        switch role {
        case .client: entries[0] = nghttp2_setting(2, 0)
        case .server: if allowsExtendedConnect { entries.append(nghttp2_setting(8, 1)) }
        }
        unsafe nghttp2_submit_settings(pointer, nghttp2_no_flags, entries, entries.count)
        unsafe nghttp2_session_set_local_window_size(
            pointer, nghttp2_no_flags, 0, limits.connectionWindow)
    }

    /// Tells a client that it may ask for other protocols on its streams (RFC 8441 §3).
    package func allowExtendedConnect() {
        let entries = [nghttp2_setting(8, 1)]
        unsafe nghttp2_submit_settings(pointer, nghttp2_no_flags, entries, entries.count)
    }

    /// Takes over a connection of HTTP/1 that was upgraded (RFC 7540 §3.2); its request is stream 1.
    ///
    /// - Parameter settings: the payload of HTTP2-Settings, decoded.
    /// - Returns: whether the settings were valid.
    package func upgrade(settings: [UInt8], isHead: Bool) -> Bool {
        if role == .client { frames.noteOpened(1) }
        // Values that are not allowed are only told by the callback; a GOAWAY waits then.
        return unsafe nghttp2_session_upgrade2(
            pointer, settings, settings.count, isHead ? 1 : 0, nil)
            == 0 && failureDetail == nil
    }

    /// Whether an upgrade with these settings would be valid for both ends.
    package static func accepts(settings: [UInt8]) -> Bool {
        [Role.server, .client].allSatisfy {
            HTTP2Session(role: $0, limits: HTTP2Limits(), allowsExtendedConnect: false)
                .upgrade(settings: settings, isHead: false)
        }
    }

    // MARK: The peer's bytes

    /// Takes bytes of the peer; what they say is told by `takeEvents`.
    ///
    /// - Parameter now: in milliseconds of any clock that rises.
    package func receive(_ bytes: Span<UInt8>, now: UInt64) throws(HTTP2Violation) {
        self.now = now
        do throws(HTTP2Flood) {
            try frames.read(bytes, now: now)
        } catch {
            // What came before the flood is not lost.
            try understand(bytes.extracting(..<frames.soundCount))
            throw .flood(error)
        }
        try understand(bytes)
        if let flood = provokedFlood { throw .flood(flood) }
    }

    /// Gives nghttp2 the head of each frame at once: it counts every call that brings a part of a
    /// CONTINUATION's head as a frame, and takes a peer whose bytes come one by one for a flood.
    private func understand(_ bytes: Span<UInt8>) throws(HTTP2Violation) {
        var start = 0
        if !frameHead.isEmpty {
            while start < bytes.count, frameHead.count < HTTP2FrameHead.length {
                frameHead.append(bytes[start])
                start += 1
            }
            guard frameHead.count == HTTP2FrameHead.length else { return }
            let head = frameHead
            frameHead.removeAll(keepingCapacity: true)
            try feed(head.span)
        }
        let end = max(start, bytes.count - frames.headCount)
        if start < end { try feed(bytes.extracting(start..<end)) }
        for index in end..<bytes.count { frameHead.append(bytes[index]) }
    }

    private func feed(_ bytes: Span<UInt8>) throws(HTTP2Violation) {
        let status = unsafe bytes.withUnsafeBufferPointer {
            unsafe nghttp2_session_mem_recv(pointer, $0.baseAddress, $0.count)
        }
        guard status < 0 else { return }
        switch Int32(clamping: status) {
        case nghttp2_bad_magic: throw .badPreface
        case nghttp2_flooded:
            throw .flood(HTTP2Flood(code: "h2-answers-flood", count: 1_000))
        case nghttp2_too_many_continuations:
            throw .flood(HTTP2Flood(code: "h2-continuation-flood", count: 9))
        case let other: throw .broken(unsafe String(cString: nghttp2_strerror(other)))
        }
    }

    package func takeEvents() -> [HTTP2Event] {
        guard !events.isEmpty else { return [] }
        defer { events.removeAll(keepingCapacity: true) }
        return events
    }

    /// Frames that carry no part of an exchange, since the last call.
    package func takeSideFrames() -> [HTTP2SideFrame] {
        frames.sideFrames.isEmpty ? [] : frames.takeSideFrames()
    }

    /// How many frames of a type the peer has sent.
    package func count(of type: HTTP2FrameType) -> Int {
        frames.counts[min(15, Int(type.rawValue))]
    }

    /// Gives `count` bytes of a stream's window back, once they have been passed on.
    package func consume(_ stream: Int32, _ count: Int) {
        guard count > 0 else { return }
        unsafe nghttp2_session_consume(pointer, stream, count)
    }

    // MARK: Our bytes

    package var wantsToSend: Bool {
        unsafe nghttp2_session_want_write(pointer) != 0
            || resetsBehind.isDue { holdsContent(of: $0) }
    }

    /// Whether the session has come to its end: nothing more is to be read or sent.
    package var isOver: Bool {
        unsafe nghttp2_session_want_read(pointer) == 0
            && nghttp2_session_want_write(pointer) == 0
    }

    /// Writes what is to be sent into the buffer's room, as far as it fits.
    ///
    /// - Returns: the streams whose content has gone so far that more may come.
    package func send(into buffer: ByteBuffer) -> [Int32] {
        output = buffer
        unsafe nghttp2_session_send(pointer)
        // Heads go out as long as there is room: what is left waits for its stream's window.
        if buffer.room > framesAhead.count {
            for (stream, code) in resetsBehind.takeDue(ifNot: { holdsContent(of: $0) }) {
                reset(stream, code)
            }
            unsafe nghttp2_session_send(pointer)
        }
        output = nil
        guard !drained.isEmpty else { return [] }
        defer { drained.removeAll(keepingCapacity: true) }
        return drained
    }

    /// Opens a stream with a request.
    ///
    /// - Returns: its number; `nil` if the connection has none left.
    package func request(_ fields: HTTP2Fields, endsStream: Bool) -> Int32? {
        let stream = unsafe withFields(fields) { entries in
            if endsStream {
                return unsafe nghttp2_submit_request(
                    pointer, nil, entries.baseAddress, entries.count, nil, nil)
            }
            var provider = unsafe HTTP2Library.provider
            return unsafe nghttp2_submit_request(
                pointer, nil, entries.baseAddress, entries.count, &provider, nil)
        }
        guard stream > 0 else { return nil }
        frames.noteOpened(stream)
        if !endsStream { bodies[stream] = OutgoingBody() }
        return stream
    }

    package func respond(_ stream: Int32, _ fields: HTTP2Fields, endsStream: Bool) {
        if !endsStream { bodies[stream] = OutgoingBody() }
        let status = unsafe withFields(fields) { entries in
            if endsStream {
                return unsafe nghttp2_submit_response(
                    pointer, stream, entries.baseAddress, entries.count, nil)
            }
            var provider = unsafe HTTP2Library.provider
            return unsafe nghttp2_submit_response(
                pointer, stream, entries.baseAddress, entries.count, &provider)
        }
        if status != 0 { bodies[stream] = nil }
    }

    /// Sends an interim response.
    package func inform(_ stream: Int32, _ fields: HTTP2Fields) {
        _ = unsafe withFields(fields) { entries in
            unsafe nghttp2_submit_headers(
                pointer, nghttp2_no_flags, stream, nil, entries.baseAddress, entries.count, nil)
        }
    }

    /// Adds content to a stream whose head was sent.
    ///
    /// - Returns: whether there is room for more; else `send(into:)` tells when.
    package func append(_ bytes: Span<UInt8>, to stream: Int32) -> Bool {
        guard var body = bodies.removeValue(forKey: stream) else { return true }
        if !body.hasRoom, let room = spareRooms.popLast() { body.bytes = room }
        body.append(bytes)
        body.wantsDrain = body.count >= Self.outgoingLimit
        let mayContinue = !body.wantsDrain
        resume(&body, stream)
        bodies[stream] = body
        return mayContinue
    }

    /// Ends our direction of a stream whose head was sent without an end.
    package func end(_ stream: Int32, trailers: HTTP2Fields? = nil) {
        guard var body = bodies.removeValue(forKey: stream) else { return }
        body.isEnded = true
        body.trailers = trailers.flatMap { $0.isEmpty ? nil : $0 }
        resume(&body, stream)
        bodies[stream] = body
    }

    private func resume(_ body: inout OutgoingBody, _ stream: Int32) {
        guard body.isDeferred else { return }
        body.isDeferred = false
        unsafe nghttp2_session_resume_data(pointer, stream)
    }

    /// Resets a stream without an error a moment after our direction of it has ended.
    package func resetAtEnd(_ stream: Int32) {
        let hasEnded = unsafe nghttp2_session_get_stream_local_close(pointer, stream) == 1
        lateResets.add(stream, hasEnded: hasEnded)
    }

    /// To be called four times a second.
    package func sweep() {
        for stream in lateResets.sweep() { reset(stream, HTTP2ErrorCode.noError) }
        for (stream, code) in resetsBehind.sweep() { reset(stream, code) }
    }

    /// Resets a stream once what was said on it has been sent: its head, content and end.
    package func resetBehindContent(_ stream: Int32, _ code: UInt32) {
        resetsBehind.add(stream, code)
    }

    /// Resets a stream and throws away what was still to be sent on it.
    package func reset(_ stream: Int32, _ code: UInt32) {
        resetsBehind.remove(stream)
        bodies[stream] = nil
        knownResets.insert(stream)
        unsafe nghttp2_submit_rst_stream(pointer, nghttp2_no_flags, stream, code)
    }

    /// Announces that no new streams are served, and lets those go on that are open.
    package func announceEnd() {
        resetsBehind.hurry()
        unsafe nghttp2_submit_shutdown_notice(pointer)
        let last = unsafe nghttp2_session_get_last_proc_stream_id(pointer)
        unsafe nghttp2_submit_goaway(
            pointer, nghttp2_no_flags, last, HTTP2ErrorCode.noError, nil, 0)
    }

    /// Says GOAWAY with a last stream, a code and a detail of one's choice; streams above are closed.
    package func announceEnd(last: Int32, code: UInt32, detail: [UInt8]) {
        unsafe nghttp2_submit_goaway(
            pointer, nghttp2_no_flags, last, code, detail, detail.count)
    }

    /// Whether content of a stream waits to be sent.
    package func holdsContent(of stream: Int32) -> Bool {
        bodies[stream].map { $0.count > 0 } ?? false
    }

    /// Ends the connection: a GOAWAY is sent, and nothing else.
    package func terminate(_ code: UInt32) {
        unsafe nghttp2_session_terminate_session(pointer, code)
    }

    /// Calls `body` with the fields as the library takes them; it copies them.
    private func withFields<Result>(
        _ fields: HTTP2Fields, _ body: (UnsafeBufferPointer<nghttp2_nv>) -> Result
    ) -> Result {
        unsafe fields.bytes.withUnsafeBufferPointer { bytes in
            let count = fields.entries.count
            return unsafe withUnsafeTemporaryAllocation(of: nghttp2_nv.self, capacity: count) {
                for index in 0..<count {
                    let entry = fields.entries[index]
                    let field = unsafe nghttp2_field(
                        bytes.baseAddress, entry.name, entry.nameCount, entry.value,
                        entry.valueCount, entry.isSensitive ? 1 : 0)
                    unsafe $0.initializeElement(at: index, to: field)
                }
                return unsafe body(UnsafeBufferPointer($0))
            }
        }
    }

    // MARK: What the library calls

    func take(
        _ target: UnsafeMutablePointer<UInt8>, _ room: Int, of stream: Int32, _ flags: inout UInt32
    ) -> Int {
        guard var body = bodies.removeValue(forKey: stream) else {
            flags |= nghttp2_data_end
            return 0
        }
        let count = min(room, body.count)
        guard count > 0 || body.isEnded else {
            body.isDeferred = true
            bodies[stream] = body
            return Int(nghttp2_deferred)
        }
        unsafe body.bytes.withUnsafeBufferPointer { bytes in
            guard let start = bytes.baseAddress, count > 0 else { return }
            unsafe target.update(from: start + body.start, count: count)
        }
        body.start += count
        resetsBehind.noteProgress(of: stream)
        if body.count == 0, body.isEnded {
            flags |= nghttp2_data_end
            if let trailers = body.trailers {
                flags |= nghttp2_data_no_end_stream
                _ = unsafe withFields(trailers) { entries in
                    unsafe nghttp2_submit_trailer(
                        pointer, stream, entries.baseAddress, entries.count)
                }
            }
            if spareRooms.count < 16, let room = body.takeRoom() { spareRooms.append(room) }
            return count
        }
        if body.wantsDrain, body.count < Self.outgoingLimit / 2 {
            body.wantsDrain = false
            drained.append(stream)
        }
        bodies[stream] = body
        return count
    }

    func write(_ source: UnsafePointer<UInt8>, _ count: Int) -> Int {
        guard let output, output.room > framesAhead.count else { return Int(nghttp2_would_block) }
        if !framesAhead.isEmpty {
            output.append(framesAhead)
            framesAhead.removeAll(keepingCapacity: true)
        }
        let taken = min(count, output.room)
        _ = unsafe output.fill { space in
            unsafe space.baseAddress.unsafelyUnwrapped.copyMemory(from: source, byteCount: taken)
            return taken
        }
        return taken
    }

    func beginBlock(isRequest: Bool) {
        block = HTTP2HeaderBlock()
        isRequestBlock = isRequest
        invalidField = nil
    }

    func addField(
        _ name: Span<UInt8>, _ value: Span<UInt8>, of stream: Int32
    ) -> Bool {
        guard block.size + name.count + value.count + 32 <= limits.headSize else {
            // The library decodes the rest and says nothing of it.
            if isRequestBlock { malformedRequests.insert(stream) }
            let detail = "the fields are larger than \(limits.headSize) bytes"
            events.append(.malformed(stream: stream, block.finish(), detail: detail))
            return false
        }
        block.add(name, value)
        return true
    }

    func noteInvalid(field name: Span<UInt8>, _ value: Span<UInt8>) {
        invalidField = HTTP2FieldFlaw.text(name, value)
    }

    func endBlock(_ stream: Int32) {
        let isHead = role == .server ? block.status == 0 && block.hasMethod : block.status > 0
        let head = block.finish()
        guard isHead else {
            return events.append(.trailers(stream: stream, head.trailers()))
        }
        guard role == .client, let excess = excessOfInterims(head, on: stream) else {
            return events.append(.head(stream: stream, head))
        }
        events.append(.malformed(stream: stream, .empty, detail: excess))
        reset(stream, HTTP2ErrorCode.enhanceYourCalm)
    }

    /// Counts a head that is an interim one, and tells what is too much of it: nothing but the next
    /// read stops an origin that sends one after the other.
    private func excessOfInterims(_ head: HTTP2Head, on stream: Int32) -> String? {
        guard head.status < 200 else {
            if !interims.isEmpty { interims[stream] = nil }
            return nil
        }
        var sum = interims[stream] ?? (0, 0)
        sum.count += 1
        sum.size += head.size
        interims[stream] = sum
        guard sum.count <= limits.interimCount else {
            return "more than \(limits.interimCount) interim responses"
        }
        guard sum.size <= limits.interimSize else {
            return "more than \(limits.interimSize) bytes of interim responses"
        }
        guard waitingInterims + head.size <= limits.waitingInterimSize else {
            return "interim responses wait on too many streams at once"
        }
        waitingInterims += head.size
        return nil
    }

    /// Takes note that so much of interim responses does not wait any more.
    package func releaseInterims(_ size: Int) { waitingInterims -= size }

    func noteContent(_ stream: Int32, _ bytes: UnsafeBufferPointer<UInt8>) {
        events.append(.content(stream: stream, unsafe [UInt8](bytes)))
    }

    func noteEnd(_ stream: Int32) {
        events.append(.ended(stream: stream))
    }

    func noteClosed(_ stream: Int32, _ code: UInt32) {
        bodies[stream] = nil
        lateResets.noteClosed(stream)
        resetsBehind.remove(stream)
        if !interims.isEmpty { interims[stream] = nil }
        if !knownResets.isEmpty { knownResets.remove(stream) }
        frames.noteClosed(stream)
        events.append(.closed(stream: stream, code: code))
    }

    func noteMalformed(_ stream: Int32, _ reason: Int32, isRequest: Bool) {
        if isRequest { malformedRequests.insert(stream) }
        let words = unsafe String(cString: nghttp2_strerror(reason))
        let detail = invalidField ?? failureDetail.flatMap(HTTP2FieldFlaw.detail) ?? words
        events.append(.malformed(stream: stream, block.finish(), detail: detail))
        invalidField = nil
        failureDetail = nil
    }

    func noteFailure(_ detail: String) {
        failureDetail = detail
    }

    /// A frame other than a head is not allowed; 0 is the connection.
    func noteViolation(on stream: Int32, _ detail: String) {
        failureDetail = detail
        guard stream > 0 else { return }
        events.append(.violated(stream: stream, detail: "a frame is not allowed (\(detail))"))
    }

    /// Gives a stream up whose head or trailers are too large to be sent.
    func noteUnsent(_ stream: Int32, isRequest: Bool) {
        events.append(.unsent(stream: stream))
        if isRequest { bodies[stream] = nil } else { reset(stream, HTTP2ErrorCode.internalError) }
    }

    func noteSentEnd(_ stream: Int32) { lateResets.noteSentEnd(stream) }

    /// Charges the peer with a reset that a frame of its has provoked.
    func noteProvoked(_ stream: Int32) {
        guard stream > 0, knownResets.insert(stream).inserted else { return }
        do throws(HTTP2Flood) {
            try frames.noteProvokedReset(now: now)
        } catch {
            provokedFlood = provokedFlood ?? error
        }
    }

    /// Answers a request that is not allowed, ahead of the reset that the library has for it
    /// (RFC 9113 §8.1.1): a client takes a reset for a fault of the moment, and tries again.
    func beginReset(_ stream: Int32) {
        guard malformedRequests.remove(stream) != nil else { return }
        framesAhead += Self.badRequest(stream)
    }

    /// A 400 without content, in numbers of the static table alone, so that it does not depend on
    /// what was sent before (RFC 7541 §6.1, §6.2.2).
    private static func badRequest(_ stream: Int32) -> [UInt8] {
        let block: [UInt8] = [0x8C, 0x0F, 0x0D, 0x01, UInt8(ascii: "0")]
        let number = [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: stream >> $0) }
        return [0, 0, UInt8(block.count), 1, 5] + number + block
    }

    func noteSentReset(_ stream: Int32, _ code: UInt32) {
        frames.noteReset(window: Int(limits.streamWindow))
        if knownResets.remove(stream) == nil {
            noteProvoked(stream)
            knownResets.remove(stream)
            events.append(.violated(stream: stream, detail: HTTP2FieldFlaw.contentDetail(code)))
        }
        guard let flood = provokedFlood, failure == nil else { return }
        failure = .flood(flood)
        terminate(HTTP2ErrorCode.enhanceYourCalm)
    }

    func noteAcknowledged() { hasAcknowledged = true }

    func noteSentData() { frames.noteSentData() }

    func noteOwnGoAway(_ code: UInt32) {
        guard code != HTTP2ErrorCode.noError, failure == nil else { return }
        failure = .broken(failureDetail ?? HTTP2ErrorCode.name(code))
    }

    func noteSettings() {
        peerSettings = HTTP2PeerSettings(
            allowsExtendedConnect: unsafe nghttp2_session_get_remote_settings(
                pointer, NGHTTP2_SETTINGS_ENABLE_CONNECT_PROTOCOL) == 1,
            concurrentStreamLimit: unsafe nghttp2_session_get_remote_settings(
                pointer, NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS))
        events.append(.settings(peerSettings))
    }

    func noteGoAway(_ last: Int32, _ code: UInt32) {
        events.append(.goAway(last: last, code: code))
    }
}
