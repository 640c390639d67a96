internal import Base
internal import HTTPCodecs
internal import HTTPModel
internal import HTTPServer

/// Lets the faults of one request work: on the request, on the answer, and on its delivery.
struct FaultApplication {
    private let faults: [Fault]
    private var draws: FaultDraws
    /// What was done, with what was drawn for it: the same at every run.
    private(set) var applied: [String] = []
    /// The digest of an asset's version is made as that of the asset itself.
    private let configuration: ContentServerConfiguration

    private let digests: ResponseDigests
    /// Where the upload breaks off, if as much comes.
    private var breakOffset: UInt64?

    init(
        _ faults: [Fault], _ draws: FaultDraws, _ configuration: ContentServerConfiguration,
        _ digests: ResponseDigests
    ) {
        self.digests = digests
        self.faults = faults
        self.draws = draws
        self.configuration = configuration
    }

    mutating func answer(
        _ request: ServerRequest, _ body: RequestBody, others: String, next: Answer
    ) async -> ServerResponse {
        let asksForRange = request.method == .get && request.fields.first(named: "range") != nil
        let working = faults.filter { asksForRange || !$0.isOfRanges }
        var changed = request
        var early: ServerResponse?
        for fault in working {
            change(body, fault, request)
            if early == nil { early = answerEarly(fault, request, others) }
            changed = change(changed, fault)
        }
        var response: ServerResponse
        if let early {
            response = early
            response.isSubstitute = true
        } else if let version = version(in: working),
            let answer = AssetRoutes.answer(changed, version, configuration, &draws)
        {
            // Digests are kept by tag: what lies about its tag, or has none, must not get any.
            response = version.isNamed ? await digests.added(to: answer, for: changed) : answer
        } else {
            response = await next(changed, body)
        }
        for fault in working { change(&response, fault, request) }
        deliver(&response, working, isBrokenOff: body.isBrokenOff)
        return response
    }

    /// Changes how an upload is taken.
    private mutating func change(
        _ body: RequestBody, _ fault: Fault, _ request: ServerRequest
    ) {
        switch fault {
        case .withhold(let offset, let milliseconds):
            let place = offset.resolved(length: body.length, &draws)
            body.withhold(at: place, milliseconds: milliseconds)
            note("withhold@\(place)")
        case .uploadCut(let offset, _):
            let place = offset.resolved(length: body.length, &draws)
            // A byte is one of the upload, which several requests may bring.
            var start: UInt64 = 0
            if case .byte = offset { start = request.uploadOffset ?? 0 }
            guard start == 0 || place > start else { return }
            body.breakOff(at: place - start)
            breakOffset = place
        case .uploadOffset(let count):
            body.rewritesInterim { $0.map { Self.moved($0, count) } }
        case .noInterim:
            body.rewritesInterim { _ in nil }
            note("no-interim")
        default: break
        }
    }

    private static func moved(_ field: ResponseField, _ count: Int64) -> ResponseField {
        guard field.name == "Upload-Offset", let offset = decimal([UInt8](field.value.utf8)) else {
            return field
        }
        return ResponseField(field.name, String(moved(offset, count)))
    }

    private mutating func note(_ text: String) { applied.append(text) }

    private mutating func version(in faults: [Fault]) -> AssetVersion? {
        for fault in faults {
            guard case .version(let version) = fault else { continue }
            note("\(version.splice == nil ? "version" : "splice") \(version.number)")
            return version
        }
        return nil
    }

    // MARK: In the place of an answer

    private mutating func answerEarly(
        _ fault: Fault, _ request: ServerRequest, _ others: String
    ) -> ServerResponse? {
        let target = request.path.raw.text + (request.path.query.map { "?" + $0.text } ?? "")
        switch fault {
        case .status(let code, let retryAfter):
            note("status \(code)")
            // Without a challenge, nobody would log in.
            var response =
                [401, 407].contains(code)
                ? HttpbinStatusRoutes.response(code) : ServerResponse.plain(code)
            switch retryAfter {
            case .seconds(let seconds):
                response.fields.append(ResponseField("Retry-After", String(seconds)))
            case .date(let seconds):
                let date = HTTPDate(seconds: request.date.seconds + Int64(seconds))
                response.fields.append(ResponseField("Retry-After", date.text))
            case nil: break
            }
            return response
        case .redirect(let count) where count > 0:
            note("redirect \(count)")
            let rest = count > 1 ? ["redirect:\(count - 1)"] : []
            let faults = (rest + (others.isEmpty ? [] : [others])).joined(separator: "|")
            return redirect(to: faults.isEmpty ? target : "/faults/\(faults)\(target)")
        case .loop:
            note("loop")
            return redirect(to: "/faults/loop\(target)")
        case .downgrade(let port):
            guard request.scheme == .https else { return nil }
            note("downgrade")
            let host = HostPort(host: request.host ?? "localhost", port: port ?? 80)
            return redirect(to: "http://\(host)\(target)")
        case .unsatisfiable(let length):
            note("416")
            var response = ServerResponse.plain(416)
            let total = ContentRange.unsatisfied(total: length ?? 0).text
            response.fields.append(ResponseField("Content-Range", total))
            return response
        case .range(.page(let status)):
            note("page \(status)")
            return ServerResponse(status, type: FileType.html, "<title>Log in</title>\n")
        default: return nil
        }
    }

    private func redirect(to target: String) -> ServerResponse {
        // Two slashes would begin the name of another host (RFC 3986 §4.2), of either kind to browsers.
        let isOther = target.hasPrefix("//") || target.hasPrefix("/\\")
        let target = isOther ? "/.\(target)" : target
        return ServerResponse(302, [ResponseField("Location", target)])
    }

    // MARK: Ranges

    private func change(_ request: ServerRequest, _ fault: Fault) -> ServerRequest {
        switch fault {
        case .range(.ignored):
            return request.replacing(fields: request.fields.setting("range", to: nil))
        case .range(.shifted(let count)), .range(.mislabelled(let count)):
            guard let line = request.fields.first(named: "range"),
                let list = RangeSpecifier.list(line), list.count == 1
            else { return request }
            let text: String
            switch list[0] {
            case .bounded(let first, let last):
                text = "bytes=\(Self.moved(first, count))-\(Self.moved(last, count))"
            case .from(let first): text = "bytes=\(Self.moved(first, count))-"
            case .suffix(let length): text = "bytes=-\(Self.moved(length, -count))"
            }
            return request.replacing(
                fields: request.fields.setting("range", to: [UInt8](text.utf8)))
        default: return request
        }
    }

    private static func moved(_ position: UInt64, _ count: Int64) -> UInt64 {
        count < 0
            ? position - min(position, count.magnitude)
            : position.addingReportingOverflow(count.magnitude).partialValue
    }

    /// Changes a part and its label.
    private mutating func change(_ response: inout ServerResponse, _ fault: Fault.RangeFault) {
        if fault == .ignored, response.status == 200 { note("range \(fault)") }
        guard response.status == 206, let place = response.index(of: "Content-Range"),
            case .part(let range, let total)? = Self.label(response.fields[place].value)
        else { return }
        func relabel(_ range: Range<UInt64>, _ total: UInt64?) {
            response.fields[place] = ResponseField(
                "Content-Range", ContentRange.part(range, total: total).text)
        }
        note("range \(fault)")
        switch fault {
        case .shifted, .ignored, .page: break
        case .mislabelled(let count):
            let start = Self.moved(range.lowerBound, -count)
            let end = min(Self.moved(range.upperBound, -count), total ?? .max)
            if start < end { relabel(start..<end, total) }
        case .resized(let count):
            let length = range.upperBound - range.lowerBound
            let changed = max(1, Self.moved(length, count))
            if changed < length {
                relabel(range.lowerBound..<range.lowerBound + changed, total)
            }
            response.body = .stream(
                length: changed, SizedSource(response.body.source, length: changed))
        case .unlabelled: response.fields.remove(at: place)
        case .unknownTotal: relabel(range, nil)
        case .wrongTotal(let count):
            relabel(range, total.map { max(range.upperBound, Self.moved($0, count)) })
        case .gzip:
            response.fields.append(ResponseField("Content-Encoding", "gzip"))
            response.body = .stream(length: nil, EncodingSource(response.body.source, .gzip))
        }
    }

    private static func label(_ text: String) -> ContentRange? {
        do throws(ContentRangeViolation) {
            return try ContentRange([UInt8](text.utf8)[...])
        } catch {
            return nil
        }
    }

    // MARK: The answer

    private mutating func change(
        _ response: inout ServerResponse, _ fault: Fault, _ request: ServerRequest
    ) {
        switch fault {
        case .range(let fault): change(&response, fault)
        case .uploadOffset(let count):
            // A question that was answered without an offset was not answered wrongly.
            guard request.method != .head || response.index(of: "Upload-Offset") != nil else {
                return
            }
            note("upload-offset \(count)")
            response.fields = response.fields.map { Self.moved($0, count) }
        case .flip(let offset, let bit):
            let length = response.body.length
            guard length != 0 else { return }
            let place = offset.resolved(length: length, &draws)
            let bit = bit ?? Int(draws.below(8))
            note("flip@\(place).\(bit)")
            response.body = .stream(
                length: length, FlippedSource(response.body.source, at: place, bit: bit))
        case .duplicate(let name, let value):
            note("duplicate \(name.prefix(40))")
            response.duplicate(name, value)
            if name.lowercased() == "content-type" { response.fields.append(.sandbox) }
        case .digest(let field):
            let bytes = (0..<4).flatMap { _ in Self.bytes(draws.next()) }
            note("digest \(field.rawValue)")
            let name =
                switch field {
                case .representation: "Repr-Digest"
                case .content: "Content-Digest"
                case .legacy: "Digest"
                }
            response.fields.removeAll { $0.name.lowercased() == name.lowercased() }
            let text = Base64.encode(bytes)
            response.fields.append(
                ResponseField(name, field == .legacy ? "SHA-256=\(text)" : "sha-256=:\(text):"))
        default: break
        }
    }

    private static func bytes(_ word: UInt64) -> [UInt8] {
        (0..<8).map { UInt8(truncatingIfNeeded: word >> (8 * $0)) }
    }

    // MARK: The delivery

    private mutating func deliver(
        _ response: inout ServerResponse, _ faults: [Fault], isBrokenOff: Bool
    ) {
        var delivery = response.delivery ?? Delivery()
        let length = response.body.length
        var pacing = FaultPacing()
        for fault in faults {
            switch fault {
            case .cut(let offset, let ending):
                let place = offset == .head ? nil : offset.resolved(length: length, &draws)
                delivery.cut = Delivery.Cut(at: place, ending)
                note("cut@\(place.map(String.init) ?? "head") \(ending)")
            case .uploadCut(_, let ending):
                guard isBrokenOff, let breakOffset else { break }
                delivery.cut = Delivery.Cut(at: nil, ending)
                note("upload-cut@\(breakOffset) \(ending)")
            case .stall(let offset, let milliseconds):
                let place = offset.resolved(length: length, &draws)
                delivery.stalls.append(Delivery.Stall(at: place, milliseconds: milliseconds))
                note("stall@\(place)")
            case .delay(let milliseconds):
                delivery.headDelay += milliseconds
                note("delay \(milliseconds)")
            case .slowHead(let rate):
                delivery.headPace = Pace(bytesPerSecond: rate)
                note("slow-head \(rate)")
            case .length(let count):
                delivery.lengthShift = count
                note("length \(count)")
            case .noLastChunk:
                delivery.omitsEnd = true
                response.body = .stream(length: nil, response.body.source)
                note("no-last-chunk")
            case .untilClose:
                delivery.framing = [ResponseField("Connection", "close")]
                note("until-close")
            case .goAway(let offset, let code, let isProcessed):
                let place = offset.resolved(length: length, &draws)
                delivery.goAway = Delivery.GoAway(at: place, code: code, isProcessed: isProcessed)
                note("goaway@\(place)")
            default: pacing.take(fault, length: length)
            }
        }
        delivery.stalls.sort { $0.offset < $1.offset }
        if let pace = pacing.pace(seed: pacing.jitter > 0 ? draws.next() : 0) {
            delivery.bodyPace = pace
            note("pace \(pace.slice)/\(pace.interval) jitter \(pace.jitter)")
        }
        if delivery != Delivery() { response.delivery = delivery }
    }
}

/// The faults that say how fast a content goes out, put together.
private struct FaultPacing {
    private var slice: Int?
    private var interval: UInt64 = 0
    private(set) var jitter: UInt64 = 0

    mutating func take(_ fault: Fault, length: UInt64?) {
        switch fault {
        case .rate(let rate): take(Pace(bytesPerSecond: rate))
        case .slowBody(let milliseconds):
            let bytes = Double(length ?? 65_536) * 1000 / Double(max(1, milliseconds))
            take(Pace(bytesPerSecond: UInt64(min(bytes, 1e12))))
        case .drip(let count, let milliseconds): (slice, interval) = (count, milliseconds)
        case .jitter(let milliseconds): jitter = milliseconds
        default: break
        }
    }

    private mutating func take(_ pace: Pace) { (slice, interval) = (pace.slice, pace.interval) }

    func pace(seed: UInt64) -> Pace? {
        guard slice != nil || jitter > 0 else { return nil }
        return Pace(slice: slice ?? 16_384, interval: interval, jitter: jitter, seed: seed)
    }
}

extension ServerResponse {
    fileprivate func index(of name: String) -> Int? {
        fields.firstIndex { $0.name.lowercased() == name.lowercased() }
    }

    /// Sends a field once more; those that frame the message become as they are.
    fileprivate mutating func duplicate(_ name: String, _ value: String?) {
        guard name.lowercased() == "content-length" else {
            let known = first(name)
            if known == nil { fields.append(ResponseField(name, value ?? "")) }
            fields.append(ResponseField(name, value ?? known ?? ""))
            return
        }
        let length = body.length.map(String.init) ?? "0"
        var delivery = self.delivery ?? Delivery()
        delivery.framing = [
            ResponseField(name, length), ResponseField(name, value ?? length),
        ]
        self.delivery = delivery
    }
}
