internal import Base
package import HTTPModel

/// Decides where a message's content ends (RFC 9112 §6.3): the only place that does.
///
/// It is stricter than the RFC wherever two recipients could read a message in two ways: whoever
/// sends such a message is told so and nothing is passed on.
package enum MessageFraming {
    /// Where the content of a request ends: `none`, `length` or `chunked`.
    package static func ofRequest(_ head: RequestHead) throws(HTTP1Violation) -> BodyFraming {
        let announced = try announced(in: head.fields, version: head.version)
        switch announced {
        case .untilClose, .length(0): return .none
        default:
            // Behind CONNECT comes the tunnel for one recipient and content for another.
            guard head.knownMethod != .connect else { throw .connectWithContent }
            return announced
        }
    }

    /// Where the content of a response ends, interim ones included; the lengths are checked even
    /// where none can follow.
    ///
    /// A 101 that was not asked for, or that comes before the request is whole, is a violation: it
    /// would hand the client's connection, with the requests that follow on it, to the origin.
    ///
    /// - Parameters:
    ///   - method: of the request that it answers.
    ///   - offer: what that request, as it was sent on, offered to change over to.
    ///   - isRequestWhole: whether the request has been sent to its end.
    package static func ofResponse(
        _ head: ResponseHead, toMethod method: KnownMethod,
        offer: @autoclosure () -> UpgradeOffer, isRequestWhole: Bool
    ) throws(HTTP1Violation) -> BodyFraming {
        let announced = try announced(in: head.fields, version: head.version)
        switch head.status {
        case 101:
            guard offer().isTaken(by: head) else { throw .unaskedSwitch }
            guard isRequestWhole else { throw .earlySwitch }
            return .tunnel
        case 200...299 where method == .connect: return .tunnel
        case 100...199, 204, 304: return .none
        default: return method == .head || announced == .length(0) ? .none : announced
        }
    }

    /// What the fields say; `untilClose` if they say nothing.
    private static func announced(
        in fields: Fields, version: HTTPVersion
    ) throws(HTTP1Violation) -> BodyFraming {
        var lengths = 0
        var codings = 0
        var last = 0
        for (index, slice) in fields.slices.enumerated() {
            switch slice.known {
            case .contentLength: lengths += 1
            case .transferEncoding: codings += 1
            default: continue
            }
            last = index
        }
        guard lengths + codings > 0 else { return .untilClose }
        guard codings == 0 || lengths == 0 else { throw .bothLengths }
        if lengths > 0 {
            guard lengths == 1 else { throw .duplicateContentLength }
            return .length(try length(fields.value(fields.slices[last])))
        }
        guard version != .http10 else { throw .transferEncodingInHTTP10 }
        try checkCodings(fields.all(.transferEncoding))
        return .chunked
    }

    /// RFC 9110 §8.6: `1*DIGIT`. A list of equal numbers, which the RFC lets pass, does not.
    private static func length(_ value: ArraySlice<UInt8>) throws(HTTP1Violation) -> UInt64 {
        guard !value.isEmpty else { throw .invalidContentLength }
        var length: UInt64 = 0
        for byte in value {
            guard byte != 0x2C else { throw .duplicateContentLength }
            guard byte.isASCIIDigit else { throw .invalidContentLength }
            let (tenfold, overflow) = length.multipliedReportingOverflow(by: 10)
            guard !overflow, tenfold <= UInt64(Int64.max) - UInt64(byte &- 0x30) else {
                throw .invalidContentLength
            }
            length = tenfold + UInt64(byte &- 0x30)
        }
        return length
    }

    /// Lets only `chunked` pass; what is wrong with the rest is told apart.
    private static func checkCodings(_ values: [ArraySlice<UInt8>]) throws(HTTP1Violation) {
        if values.count == 1, values[0].equalsIgnoringCase("chunked") { return }
        var chunked = 0
        var endsChunked = false
        for value in values {
            for element in value.split(separator: 0x2C, omittingEmptySubsequences: false) {
                let coding = element.trimmingWhitespace
                guard !coding.isEmpty, coding.allSatisfy(\.isTokenByte) else {
                    throw .invalidTransferEncoding
                }
                endsChunked = coding.equalsIgnoringCase("chunked")
                chunked += endsChunked ? 1 : 0
            }
        }
        guard chunked <= 1 else { throw .chunkedTwice }
        guard endsChunked else { throw .chunkedNotFinal }
        throw .unsupportedTransferCoding
    }
}
