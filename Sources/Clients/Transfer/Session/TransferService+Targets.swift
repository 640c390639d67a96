internal import Base

extension TransferService {
    /// The transfer that does already what a plan wants: the same URL, to the same file, for the same
    /// session. It goes on as the plan has it, so that a command may be given again after whatever
    /// ended it.
    ///
    /// Errors: `file-claimed` if another one that has not ended brings the file.
    func transfer(doing plan: TransferPlan) throws(Failure) -> TransferTask? {
        guard plan.kind == .download, let file = plan.file, let transfer = targets[file],
            !transfer.task.state.isFinal
        else { return nil }
        let task = transfer.task
        guard task.url == plan.url, task.session == plan.session else {
            throw Failure(
                "file-claimed", party: .client,
                "the transfer \(task.identifier) brings \(file) already",
                hint: "cancel it, or name another file")
        }
        if task.options != plan.options { try change(task.identifier, to: plan.options) }
        return transfer.task
    }
}
