internal import Base

extension TransferService {
    /// The transfer that does already what a plan wants: the same URL, to the same file, for the same
    /// session, so that a command may be given again after whatever ended it. What the plan has of
    /// options is added; one that it has not stays as it was.
    ///
    /// Errors: `file-claimed` if another one that has not ended brings the file, `digest-unknown` if it was
    /// brought without the digest that is wanted now, `transfer-ending` if it is too late for one.
    func transfer(doing plan: TransferPlan) throws(Failure) -> TransferTask? {
        guard plan.kind == .download, let file = plan.file, let transfer = targets[file] else {
            return nil
        }
        let task = transfer.task
        guard !task.state.isFinal else { return try completed(task, plan) }
        guard task.url == plan.url, task.session == plan.session else {
            throw Failure(
                "file-claimed", party: .client,
                "the transfer \(task.identifier) brings \(file) already",
                hint: "cancel it, or name another file")
        }
        let options = task.options.adding(plan.options)
        if task.options != options { try change(task.identifier, to: options) }
        return transfer.task
    }

    /// One that is complete, and of which nobody has taken notice yet.
    private func completed(
        _ task: TransferTask, _ plan: TransferPlan
    ) throws(Failure) -> TransferTask? {
        guard task.state == .completed, task.url == plan.url, task.session == plan.session,
            !plan.options.replacesFile, let path = task.path
        else { return nil }
        do throws(DiskFailure) {
            guard try disk.size(of: path) == task.committed else { return nil }
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
        return expected.algorithm == .sha256 && expected.bytes == digest ? task : nil
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
