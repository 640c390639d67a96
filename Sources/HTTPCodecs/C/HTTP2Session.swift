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
    private var block = HTTP2Head()
    private var invalidField: String?
    private var failureDetail: String?
    /// Why the connection was ended by a GOAWAY of ours; `nil` while all is well.
    package private(set) var failure: HTTP2Violation?
    private var bodies: [Int32: OutgoingBody] = [:]
    /// Room of contents that were sent, for the next ones.
    private var spareRooms: [[UInt8]] = []
    /// Streams whose content has been taken down to where more may come.
    private var drained: [Int32] = []
    private var resetsAtEnd: Set<Int32> = []
    private var output: ByteBuffer?
    package private(set) var peerSettings = HTTP2PeerSettings()

    /// Content of one stream that may wait to be sent, in bytes.
    package static let outgoingLimit = 64 << 10

    package init(
        role: Role, limits: HTTP2Limits = HTTP2Limits(), allowsExtendedConnect: Bool = false
    ) {
        self.role = role
        self.limits = limits
        frames = HTTP2FrameReader(skippingPreface: role == .server)
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
        // Values that are not allowed are only told by the callback; a GOAWAY waits then.
        unsafe nghttp2_session_upgrade2(pointer, settings, settings.count, isHead ? 1 : 0, nil)
            == 0 && failureDetail == nil
    }

    // MARK: The peer's bytes

    /// Takes bytes of the peer; what they say is told by `takeEvents`.
    ///
    /// - Parameter now: in milliseconds of any clock that rises.
    package func receive(_ bytes: Span<UInt8>, now: UInt64) throws(HTTP2Violation) {
        do throws(HTTP2Flood) {
            try frames.read(bytes, now: now)
        } catch {
            // What came before the flood is not lost.
            try understand(bytes.extracting(..<frames.soundCount))
            throw .flood(error)
        }
        try understand(bytes)
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
            let span = head.span
            try feed(span)
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

    package var wantsToSend: Bool { unsafe nghttp2_session_want_write(pointer) != 0 }

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
                    pointer, nil, entries, entries.count, nil, nil)
            }
            var provider = unsafe HTTP2Library.provider
            return unsafe nghttp2_submit_request(
                pointer, nil, entries, entries.count, &provider, nil)
        }
        guard stream > 0 else { return nil }
        if !endsStream { bodies[stream] = OutgoingBody() }
        return stream
    }

    package func respond(_ stream: Int32, _ fields: HTTP2Fields, endsStream: Bool) {
        if !endsStream { bodies[stream] = OutgoingBody() }
        let status = unsafe withFields(fields) { entries in
            if endsStream {
                return unsafe nghttp2_submit_response(pointer, stream, entries, entries.count, nil)
            }
            var provider = unsafe HTTP2Library.provider
            return unsafe nghttp2_submit_response(
                pointer, stream, entries, entries.count, &provider)
        }
        if status != 0 { bodies[stream] = nil }
    }

    /// Sends an interim response.
    package func inform(_ stream: Int32, _ fields: HTTP2Fields) {
        _ = unsafe withFields(fields) { entries in
            unsafe nghttp2_submit_headers(
                pointer, nghttp2_no_flags, stream, nil, entries, entries.count, nil)
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

    /// Resets a stream without an error as soon as our direction of it has ended: the peer need not
    /// send the rest (RFC 9113 §8.1).
    package func resetAtEnd(_ stream: Int32) {
        resetsAtEnd.insert(stream)
    }

    package func reset(_ stream: Int32, _ code: UInt32) {
        bodies[stream] = nil
        unsafe nghttp2_submit_rst_stream(pointer, nghttp2_no_flags, stream, code)
    }

    /// Announces that no new streams are served, and lets those go on that are open.
    package func announceEnd() {
        unsafe nghttp2_submit_shutdown_notice(pointer)
        let last = unsafe nghttp2_session_get_last_proc_stream_id(pointer)
        unsafe nghttp2_submit_goaway(
            pointer, nghttp2_no_flags, last, HTTP2ErrorCode.noError, nil, 0)
    }

    /// Ends the connection: a GOAWAY is sent, and nothing else.
    package func terminate(_ code: UInt32) {
        unsafe nghttp2_session_terminate_session(pointer, code)
    }

    private func withFields<Result>(
        _ fields: HTTP2Fields, _ body: ([nghttp2_nv]) -> Result
    ) -> Result {
        unsafe fields.bytes.withUnsafeBufferPointer { bytes in
            let entries = unsafe fields.entries.map { entry in
                unsafe nghttp2_field(
                    bytes.baseAddress, entry.name, entry.nameCount, entry.value,
                    entry.valueCount, entry.isSensitive ? 1 : 0)
            }
            return unsafe body(entries)
        }
    }

    // MARK: What the library calls

    fileprivate func take(
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
        if body.count == 0, body.isEnded {
            flags |= nghttp2_data_end
            if let trailers = body.trailers {
                flags |= nghttp2_data_no_end_stream
                _ = unsafe withFields(trailers) { entries in
                    unsafe nghttp2_submit_trailer(pointer, stream, entries, entries.count)
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

    fileprivate func write(_ source: UnsafePointer<UInt8>, _ count: Int) -> Int {
        guard let output, output.room > 0 else { return Int(nghttp2_would_block) }
        let taken = min(count, output.room)
        _ = unsafe output.fill { space in
            unsafe space.baseAddress.unsafelyUnwrapped.copyMemory(from: source, byteCount: taken)
            return taken
        }
        return taken
    }

    fileprivate func beginBlock() {
        block = HTTP2Head()
        invalidField = nil
    }

    fileprivate func addField(
        _ name: Span<UInt8>, _ value: Span<UInt8>, of stream: Int32
    ) -> Bool {
        guard block.size + name.count + value.count + 32 <= limits.headSize else {
            // The library decodes the rest and says nothing of it.
            let detail = "the fields are larger than \(limits.headSize) bytes"
            events.append(.malformed(stream: stream, block, detail: detail))
            return false
        }
        block.add(name, value)
        return true
    }

    fileprivate func noteInvalid(field name: Span<UInt8>) {
        var text: [UInt8] = []
        for index in 0..<min(64, name.count) { text.append(name[index]) }
        invalidField = "the field \(text.text) is not allowed"
    }

    fileprivate func endBlock(_ stream: Int32) {
        if role == .server ? block.status == 0 && !block.method.isEmpty : block.status > 0 {
            events.append(.head(stream: stream, block))
        } else {
            events.append(.trailers(stream: stream, block.trailers()))
        }
        block = HTTP2Head()
    }

    fileprivate func noteContent(_ stream: Int32, _ bytes: UnsafeBufferPointer<UInt8>) {
        events.append(.content(stream: stream, unsafe [UInt8](bytes)))
    }

    fileprivate func noteEnd(_ stream: Int32) {
        events.append(.ended(stream: stream))
    }

    fileprivate func noteClosed(_ stream: Int32, _ code: UInt32) {
        bodies[stream] = nil
        if !resetsAtEnd.isEmpty { resetsAtEnd.remove(stream) }
        events.append(.closed(stream: stream, code: code))
    }

    fileprivate func noteMalformed(_ stream: Int32, _ reason: Int32) {
        let words = unsafe String(cString: nghttp2_strerror(reason))
        let detail = invalidField ?? failureDetail.flatMap(Self.fieldDetail) ?? words
        events.append(.malformed(stream: stream, block, detail: detail))
        invalidField = nil
        failureDetail = nil
    }

    /// The field that the library complains of, without its value, which may be a secret.
    private static func fieldDetail(_ complaint: String) -> String? {
        let parts = complaint.split(separator: "name: [", maxSplits: 1)
        guard parts.count == 2, let name = parts[1].split(separator: "]", maxSplits: 1).first
        else { return nil }
        return "the field \(name.prefix(64)) is not allowed"
    }

    fileprivate func noteFailure(_ detail: String) {
        failureDetail = detail
    }

    fileprivate func noteSentEnd(_ stream: Int32) {
        guard !resetsAtEnd.isEmpty, resetsAtEnd.remove(stream) != nil else { return }
        reset(stream, HTTP2ErrorCode.noError)
    }

    fileprivate func noteOwnGoAway(_ code: UInt32) {
        guard code != HTTP2ErrorCode.noError, failure == nil else { return }
        failure = .broken(failureDetail ?? HTTP2ErrorCode.name(code))
    }

    fileprivate func noteSettings() {
        peerSettings = HTTP2PeerSettings(
            allowsExtendedConnect: unsafe nghttp2_session_get_remote_settings(
                pointer, NGHTTP2_SETTINGS_ENABLE_CONNECT_PROTOCOL) == 1,
            concurrentStreamLimit: unsafe nghttp2_session_get_remote_settings(
                pointer, NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS))
        events.append(.settings(peerSettings))
    }

    fileprivate func noteGoAway(_ last: Int32, _ code: UInt32) {
        events.append(.goAway(last: last, code: code))
    }
}

/// What all sessions share of the library.
///
/// `@unchecked Sendable`: written once, before it is shared; the library only reads it.
@safe
private final class HTTP2Library: @unchecked Sendable {
    static let shared = HTTP2Library()
    let callbacks: OpaquePointer?
    let options: OpaquePointer?

    static var provider: nghttp2_data_provider {
        unsafe nghttp2_data_provider(
            source: nghttp2_data_source(),
            read_callback: { _, stream, target, room, flags, _, user in
                guard let target = unsafe target, let flags = unsafe flags else { return 0 }
                return unsafe HTTP2Library.with(user) { session in
                    unsafe session.take(target, room, of: stream, &flags.pointee)
                }
            })
    }

    static func with<Result>(
        _ user: UnsafeMutableRawPointer?, _ body: (HTTP2Session) -> Result
    ) -> Result {
        unsafe Unmanaged<HTTP2Session>.fromOpaque(user.unsafelyUnwrapped)
            ._withUnsafeGuaranteedRef { body($0) }
    }

    private init() {
        var callbacks: OpaquePointer?
        var options: OpaquePointer?
        guard unsafe nghttp2_session_callbacks_new(&callbacks) == 0,
            unsafe nghttp2_option_new(&options) == 0
        else { preconditionFailure("out of memory") }
        unsafe self.callbacks = callbacks
        unsafe self.options = options
        unsafe nghttp2_option_set_no_auto_window_update(options, 1)
        unsafe nghttp2_option_set_no_closed_streams(options, 1)
        // Fields that came are not refused for their number on the way out.
        unsafe nghttp2_option_set_max_send_header_block_length(options, 512 << 10)
        unsafe setReaders(callbacks)
        unsafe setFieldReaders(callbacks)
    }

    private func setReaders(_ callbacks: OpaquePointer?) {
        unsafe nghttp2_session_callbacks_set_send_callback(callbacks) { _, bytes, count, _, user in
            guard let bytes = unsafe bytes else { return 0 }
            return unsafe HTTP2Library.with(user) { unsafe $0.write(bytes, count) }
        }
        unsafe nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks) {
            _, _, stream, bytes, count, user in
            unsafe HTTP2Library.with(user) {
                unsafe $0.noteContent(stream, UnsafeBufferPointer(start: bytes, count: count))
            }
            return 0
        }
        unsafe nghttp2_session_callbacks_set_on_stream_close_callback(callbacks) {
            _, stream, code, user in
            unsafe HTTP2Library.with(user) { $0.noteClosed(stream, code) }
            return 0
        }
        unsafe nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks) { _, frame, user in
            guard let frame = unsafe frame else { return 0 }
            unsafe HTTP2Library.with(user) { session in unsafe noteFrame(frame, session) }
            return 0
        }
        unsafe nghttp2_session_callbacks_set_on_invalid_frame_recv_callback(callbacks) {
            _, frame, reason, user in
            guard let frame = unsafe frame else { return 0 }
            unsafe HTTP2Library.with(user) { session in
                unsafe noteInvalid(frame, reason, session)
            }
            return 0
        }
        unsafe nghttp2_session_callbacks_set_on_frame_send_callback(callbacks) { _, frame, user in
            guard let frame = unsafe frame else { return 0 }
            let header = unsafe frame.pointee.hd
            switch Int(header.type) {
            case nghttp2_frame_goaway:
                let code = unsafe frame.pointee.goaway.error_code
                unsafe HTTP2Library.with(user) { $0.noteOwnGoAway(code) }
            case nghttp2_frame_data, nghttp2_frame_headers:
                guard header.flags & nghttp2_end_stream != 0 else { return 0 }
                unsafe HTTP2Library.with(user) { $0.noteSentEnd(header.stream_id) }
            default: return 0
            }
            return 0
        }
        unsafe nghttp2_session_callbacks_set_error_callback2(callbacks) {
            _, _, text, count, user in
            guard let text = unsafe text else { return 0 }
            let detail = unsafe UnsafeBufferPointer(start: text, count: min(count, 200)).map {
                UInt8(bitPattern: $0)
            }.text
            unsafe HTTP2Library.with(user) { $0.noteFailure(detail) }
            return 0
        }
    }

    private func setFieldReaders(_ callbacks: OpaquePointer?) {
        unsafe nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks) { _, _, user in
            unsafe HTTP2Library.with(user) { $0.beginBlock() }
            return 0
        }
        unsafe nghttp2_session_callbacks_set_on_header_callback(callbacks) {
            _, frame, name, nameCount, value, valueCount, _, user in
            guard let stream = unsafe frame?.pointee.hd.stream_id else { return 0 }
            return unsafe HTTP2Library.with(user) { session in
                let name = unsafe UnsafeBufferPointer(start: name, count: nameCount)
                let value = unsafe UnsafeBufferPointer(start: value, count: valueCount)
                return unsafe session.addField(name.span, value.span, of: stream)
                    ? 0 : nghttp2_stream_failure
            }
        }
        unsafe nghttp2_session_callbacks_set_on_invalid_header_callback(callbacks) {
            _, _, name, nameCount, _, _, _, user in
            unsafe HTTP2Library.with(user) { session in
                let name = unsafe UnsafeBufferPointer(start: name, count: nameCount)
                unsafe session.noteInvalid(field: name.span)
            }
            return nghttp2_stream_failure
        }
    }
}

/// Takes down why a frame is not allowed. Frames of a stream that bear no head break the connection,
/// or close the stream.
private func noteInvalid(
    _ frame: UnsafePointer<nghttp2_frame>, _ reason: Int32, _ session: HTTP2Session
) {
    let header = unsafe frame.pointee.hd
    if Int(header.type) == nghttp2_frame_headers,
        reason == nghttp2_bad_header || reason == nghttp2_bad_message
    {
        session.noteMalformed(header.stream_id, reason)
    } else {
        session.noteFailure(unsafe String(cString: nghttp2_strerror(reason)))
    }
}

/// Takes down what a whole frame means.
private func noteFrame(_ frame: UnsafePointer<nghttp2_frame>, _ session: HTTP2Session) {
    let header = unsafe frame.pointee.hd
    let stream = header.stream_id
    switch Int(header.type) {
    case nghttp2_frame_headers:
        session.endBlock(stream)
        if header.flags & nghttp2_end_stream != 0 { session.noteEnd(stream) }
    case nghttp2_frame_data:
        if header.flags & nghttp2_end_stream != 0 { session.noteEnd(stream) }
    case nghttp2_frame_settings:
        if header.flags & nghttp2_ack == 0 { session.noteSettings() }
    case nghttp2_frame_goaway:
        unsafe session.noteGoAway(
            frame.pointee.goaway.last_stream_id, frame.pointee.goaway.error_code)
    default: return
    }
}
