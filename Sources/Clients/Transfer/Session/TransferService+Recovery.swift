internal import Base
internal import Origins
internal import Sockets

extension TransferService {
    /// Takes up what a folder has.
    func recover() throws(DiskFailure) {
        for name in try disk.names(in: configuration.folder) where name.utf8.count == 36 {
            do throws(DiskFailure) {
                try recover(name)
            } catch {
                // The others are not to be lost for it.
                unreadable.append(error.failure)
            }
        }
    }

    private func recover(_ name: String) throws(DiskFailure) {
        let folder = "\(configuration.folder)/\(name)"
        guard let journal = try Journal.open("\(folder)/journal", on: disk) else {
            // It was being made when a crash came: nobody was told of it.
            remove(folder)
            return
        }
        let transfer = made(name, journal, folder, host: host(of: journal.state.plan.url))
        let state = journal.state
        if case .authentication(let schemes, let host) = state.loginAsked {
            transfer.needsLogin = true
            transfer.lastFailure = Self.login(schemes, host, of: transfer)
        }
        if let pause = state.pause, state.ending == nil {
            let left = (pause.until.microseconds - clock.now.microseconds) / 1000
            if left > 0 {
                put(transfer, off: min(left, RetryRule.longestPause), .retry, pause.failure)
            }
        }
        transfer.refresh()
        settle(transfer)
        let isHeard =
            state.pendingEvents.isEmpty && (state.acknowledged > 0 || state.isCancelled)
        if state.ending != nil, isHeard {
            removeContent(of: transfer)
            remove(folder)
        } else {
            enter(transfer)
        }
    }

    private func host(of url: String) -> String {
        do throws(Failure) {
            return try OriginLocation(url).target.authority
        } catch {
            return ""
        }
    }

    /// Removes a task that has ended and was acknowledged.
    func forget(_ transfer: RunningTransfer) {
        removeContent(of: transfer)
        remove(transfer.folder)
        transfers[transfer.task.identifier] = nil
        forgetTarget(of: transfer)
        queue.removeAll { $0 === transfer }
        for watcher in watchers[transfer.task.identifier] ?? [] { watcher.wake() }
        onActivity()
    }

    /// What has come of a download, but for what was delivered.
    func removeContent(of transfer: RunningTransfer) {
        guard transfer.task.kind == .download else { return }
        do throws(DiskFailure) {
            try disk.remove(DownloadStore.path(of: transfer.task, in: transfer.folder))
        } catch {
            transfer.lastFailure = error.failure
        }
    }

    /// What cannot be removed now is tried again when the folder is opened next.
    private func remove(_ folder: String) {
        do throws(DiskFailure) {
            try Journal.remove("\(folder)/journal", on: disk)
            try disk.remove(folder)
            try disk.syncFolder(configuration.folder)
        } catch {
            return
        }
    }
}
