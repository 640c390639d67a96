internal import Base

extension TransferService {
    /// The transfer that does already what a plan wants, so that a command may be given again after whatever
    /// ended it: the same URL, to or from the same file, for the same session. What the plan has of options
    /// is added; one that it has not stays as it was. Of uploads it is one that has not ended: who gives the
    /// command again behind its end wants another one.
    ///
    /// Errors: `file-claimed` if another one that has not ended brings the file, `digest-contradicted` if
    /// somebody wants the file with another digest, `digest-unknown` if it was brought without the digest that
    /// is wanted now, `transfer-ending` if it is too late for one, `file-exists` if what was brought is
    /// another file by now.
    func transfer(doing plan: TransferPlan) throws(Failure) -> TransferTask? {
        guard let target = TransferTarget(plan), let known = targets[target] else { return nil }
        var transfer = known
        switch target {
        case .download(let file):
            let task = known.task
            guard !task.state.isFinal else { return try completed(known, plan) }
            guard task.url == plan.url, task.session == plan.session else {
                throw Failure(
                    "file-claimed", party: .client,
                    "the transfer \(task.identifier) brings \(file) already",
                    hint: "cancel it, or name another file")
            }
            try check(plan.options.expected, beside: task.options.expected, of: task)
        case .upload(let file, _, _, _):
            let one = ([known] + (otherUploads[target] ?? [])).first {
                !$0.task.state.isFinal && sends($0, file)
            }
            guard let one else { return nil }
            transfer = one
        }
        let task = transfer.task
        let options = task.options.adding(plan.options)
        if task.options != options { try change(task.identifier, to: options) }
        return transfer.task
    }

    /// Lets a transfer be found by its target: of several one that has not ended, or the later one.
    func noteTarget(of transfer: RunningTransfer) {
        guard let target = TransferTarget(transfer.task) else { return }
        guard let known = targets[target] else {
            targets[target] = transfer
            return
        }
        let (one, other) =
            transfer.task.isMeant(beside: known.task) ? (transfer, known) : (known, transfer)
        targets[target] = one
        if case .upload = target, !other.task.state.isFinal {
            otherUploads[target, default: []].append(other)
        }
    }

    func forgetTarget(of transfer: RunningTransfer) {
        guard let target = TransferTarget(transfer.task) else { return }
        otherUploads[target]?.removeAll { $0 === transfer }
        if targets[target] === transfer { targets[target] = otherUploads[target]?.popLast() }
        if otherUploads[target]?.isEmpty == true { otherUploads[target] = nil }
    }

    /// Refuses another digest than somebody waits for: theirs would be compared no more.
    private func check(
        _ wanted: ExpectedDigest?, beside known: ExpectedDigest?, of task: TransferTask
    ) throws(Failure) {
        guard let wanted, let known, wanted != known else { return }
        throw Failure(
            "digest-contradicted", party: .client,
            "the transfer \(task.identifier) brings the file already, and its"
                + " \(known.algorithm.rawValue) has to be \(known.bytes.hex)",
            hint: "cancel it, or name another file")
    }

    /// Whether an upload is of the file as it is now; where that cannot be seen, the upload tells why.
    private func sends(_ transfer: RunningTransfer, _ file: String) -> Bool {
        let known = transfer.uploadNote.flatMap { UploadState($0) }?.source
        do throws(DiskFailure) {
            let identity = try disk.openSource(file).identity()
            return known?.matches(identity)
                ?? transfer.source.map { $0.identity == identity } ?? true
        } catch {
            return true
        }
    }

    /// One that is complete, and of which nobody has taken notice yet.
    private func completed(
        _ transfer: RunningTransfer, _ plan: TransferPlan
    ) throws(Failure) -> TransferTask? {
        let task = transfer.task
        guard task.state == .completed, task.url == plan.url, task.session == plan.session,
            !plan.options.replacesFile, let path = task.path
        else { return nil }
        do throws(DiskFailure) {
            guard try disk.size(of: path) != nil else { return nil }
            guard try isThere(transfer, path, isProved: plan.options.expected != nil) else {
                throw DiskFailure(
                    .exists,
                    "\(path) was changed since the transfer \(task.identifier) has brought it")
            }
        } catch {
            throw error.failure
        }
        guard let expected = plan.options.expected else { return task }
        guard let digest = task.digest else {
            throw Failure(
                "digest-unknown", party: .client,
                "the transfer \(task.identifier) has brought \(path) already, and nobody had told its"
                    + " digest",
                hint: "compare it with sha256sum, or have it fetched anew: --replace")
        }
        guard expected.algorithm == .sha256, expected.bytes == digest else {
            throw Failure(
                "digest-contradicted", party: .client,
                "the transfer \(task.identifier) has brought \(path) already, and its sha256 is"
                    + " \(digest.hex)",
                hint: "if there is another file at its URL now, have it fetched anew: --replace")
        }
        return task
    }

    /// Whether what a download has brought is there, as it was.
    ///
    /// - Parameter isProved: whether a file that only may have been written to is not.
    private func isThere(
        _ transfer: RunningTransfer, _ path: String, isProved: Bool
    ) throws(DiskFailure) -> Bool {
        guard try disk.size(of: path) == transfer.task.committed,
            let verified = transfer.journal.state.verified
        else { return false }
        let identity = try disk.openSource(path).identity()
        return isProved ? verified.isUntouched(identity) : verified.isIn(identity)
    }
}

extension TransferTask {
    /// Whether it, and not another one with the same target, is meant by that.
    fileprivate func isMeant(beside other: TransferTask) -> Bool {
        state.isFinal == other.state.isFinal
            ? createdAt >= other.createdAt : !state.isFinal
    }
}

/// By what a transfer is found when its command is given again.
enum TransferTarget: Hashable {
    /// To where it goes.
    case download(file: String)
    /// A file may go to many places at once, and in many ways. Beside the rest, as downloads may be many.
    indirect case upload(file: String, url: String, session: String, UploadOptions)

    /// `nil` for what is kept in its task's folder.
    init?(_ plan: TransferPlan) {
        self.init(plan.kind, plan.file, plan.url, plan.session, plan.options.upload)
    }

    init?(_ task: TransferTask) {
        self.init(task.kind, task.file, task.url, task.session, task.options.upload)
    }

    private init?(
        _ kind: TransferTask.Kind, _ file: String?, _ url: String, _ session: String,
        _ options: UploadOptions
    ) {
        guard let file else { return nil }
        switch kind {
        case .download: self = .download(file: file)
        case .upload: self = .upload(file: file, url: url, session: session, options)
        }
    }
}

extension TransferOptions {
    /// With what others have beyond the standard.
    fileprivate func adding(_ others: TransferOptions) -> TransferOptions {
        var all = self
        all.isDiscretionary = isDiscretionary || others.isDiscretionary
        all.isFromWake = isFromWake && others.isFromWake
        // Where a user wants it as well, it may go where they can.
        all.isFromStranger = isFromStranger && others.isFromStranger
        all.allowsCellular = allowsCellular && others.allowsCellular
        all.priority = max(priority, others.priority)
        all.expected = others.expected ?? expected
        all.byteLimit = others.byteLimit ?? byteLimit
        all.credential = others.credential ?? credential
        all.authorities = others.authorities ?? authorities
        if !others.pins.isEmpty { all.pins = others.pins }
        if !others.fields.isEmpty { all.fields = others.fields }
        all.replacesFile = replacesFile || others.replacesFile
        return all
    }
}
