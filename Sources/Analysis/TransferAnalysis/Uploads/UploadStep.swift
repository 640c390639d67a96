internal import Base
internal import Contents
internal import HTTPModel
internal import Traffic

/// Where what the server stores of a content comes from.
enum StoredPart {
    case content
    /// From elsewhere, or nobody could read it: how many bytes it is, `nil` if that is not told.
    case other(count: Int64?)
}

/// What one exchange does to an upload that is sent in parts.
struct UploadStep {
    enum Place {
        case nowhere
        /// The content goes to this offset.
        case at(Int64)
        /// The content is the part of this number.
        case numbered(Int64)
    }

    enum Outcome {
        case taken
        case refused
        /// No answer came, or not all of it, so the server may have taken any of it.
        case unknown
    }

    enum Ending {
        case none
        /// The server has said that it has everything.
        case finished
        /// It has, if all of it was sent.
        case whenWhole
        case cancelled
    }

    let method: TransferMethod
    /// Under which the upload is known from now on.
    var url: [UInt8]
    var isCreation = false
    var place = Place.nowhere
    var total: Int64?
    /// How many bytes from the first on the server says that it has.
    var kept: Int64?
    var outcome: Outcome
    var ending = Ending.none
    var asked: String?
    var answered: String?
    var notes: [TransferNote] = []
    var stored = StoredPart.content
    /// The numbers of the parts that the upload is to be put together of, ascending; `nil` if that
    /// is not told.
    var listed: [Int64]?

    /// Whether it begins where a finished upload would have nothing to begin.
    var startsAnew: Bool {
        if case .at(0) = place { true } else { isCreation }
    }

    /// - Parameter known: how the upload at this URL is sent, `nil` if there is none.
    init?(
        _ heads: TransferHeads, of known: TransferMethod?, _ contents: TransferContents
    ) throws {
        if URLReference.parameter("uploadId", of: heads.url) != nil {
            try self.init(s3Multipart: heads, isKnown: known == .s3Multipart, contents)
        } else if heads.asked("tus-resumable") != nil || known == .tus {
            self.init(tus: heads)
        } else if known == .resumableUpload || Self.isResumable(heads) {
            self.init(resumable: heads, isKnown: known == .resumableUpload)
        } else {
            self.init(contentRange: heads, isKnown: known == .contentRange)
        }
    }

    init(_ method: TransferMethod, _ heads: TransferHeads) {
        self.method = method
        url = Self.url(of: heads)
        outcome =
            heads.isTransientFailure ? .unknown : heads.succeeded ? .taken : .refused
    }

    /// Under which an upload is known that a request is about.
    static func url(of heads: TransferHeads) -> [UInt8] {
        guard let upload = URLReference.parameter("uploadId", of: heads.url) else {
            return heads.url
        }
        return URLReference.withoutQuery(heads.url) + Array("?uploadId=".utf8) + upload
    }

    mutating func note(_ code: TransferNote.Code, _ detail: String = "") {
        notes.append(TransferNote(code, detail))
    }

    // MARK: Content-Range

    private init?(contentRange heads: TransferHeads, isKnown: Bool) {
        self.init(.contentRange, heads)
        let field = heads.asked("content-range")
        switch heads.method {
        case "DELETE" where isKnown:
            ending = .cancelled
            return
        case "POST" where field == nil, "PUT" where field == nil && !isKnown:
            guard Self.opensSession(heads), let location = heads.answered("location"),
                heads.succeeded
            else { return nil }
            isCreation = true
            url = URLReference.resolved(location, against: heads.url)
            total = heads.asked("x-upload-content-length").flatMap(TransferHeads.number)
            return
        case "PUT", "POST", "PATCH": break
        default: return nil
        }
        guard isKnown || field != nil else { return nil }
        asked = shown(field)
        read(field, heads)
        if heads.exchange.status == 308 { readKept(heads) }
        if outcome == .taken, heads.succeeded { ending = .whenWhole }
    }

    private mutating func read(_ field: ArraySlice<UInt8>?, _ heads: TransferHeads) {
        guard let field else {
            place = .at(0)
            total = heads.announcedRequest
            return
        }
        do throws(ContentRangeViolation) {
            switch try ContentRange(field) {
            case .part(let range, let total):
                place = .at(Int64(range.lowerBound))
                self.total = total.map(Int64.init)
                if let announced = heads.announcedRequest, announced != range.count {
                    note(.rangeDiffers)
                }
            case .unsatisfied(let total): self.total = Int64(total)
            case .unknown: break
            }
        } catch {
            note(.unplaced, "Content-Range \(error.rawValue)")
        }
    }

    /// What the server has, by its Range; without one, nothing.
    private mutating func readKept(_ heads: TransferHeads) {
        outcome = .taken
        answered = shown(heads.answered("range"))
        kept = 0
        guard let range = heads.answered("range"), let list = RangeSpecifier.list(range),
            list.count == 1, case .bounded(0, let last) = list[0]
        else { return }
        kept = Int64(exactly: last).flatMap { $0 < .max ? $0 + 1 : nil }
    }

    private static func opensSession(_ heads: TransferHeads) -> Bool {
        URLReference.parameter("uploadType", of: heads.url)?.elementsEqual("resumable".utf8)
            ?? false
            || heads.asked("x-upload-content-length") != nil
            || heads.asked("x-goog-resumable") != nil
    }
}
