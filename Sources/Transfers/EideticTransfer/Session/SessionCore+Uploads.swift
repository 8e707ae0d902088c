import EideticCore

// New uploads are added beside all other changes: the transfer process copies their files first, which takes long for a
// large one, and for ever where a file system hangs.
extension SessionCore {
    /// Returns whether a task is an upload that the transfer process does not have.
    func isNewUpload(_ task: TransferTask) -> Bool {
        !task.record.isDownload && task.record.current.confirmed == .absent
    }

    /// Starts to add the new uploads; their changes meanwhile are made when they are added.
    func startUploads(among tasks: [TransferTask], to service: any TransferService) {
        let uploads = tasks.filter(isNewUpload)
        guard !uploads.isEmpty else { return }
        withState { $0.uploading.formUnion(uploads.map(\.taskIdentifier)) }
        Task {
            do throws(EideticError) {
                try await addMissing(among: uploads, to: service)
                finish(uploads, isLost: false)
            } catch {
                finish(uploads, isLost: true)
            }
        }
    }

    /// Marks the uploads that are to be changed, or to be added over the next connection if this one is lost.
    private func finish(_ uploads: [TransferTask], isLost: Bool) {
        withState { state in
            state.uploading.subtract(uploads.map(\.taskIdentifier))
            for task in uploads where state.tasks[task.taskIdentifier] != nil {
                let record = task.record.current
                // One that was refused, or cancelled before, has neither been added nor is to be.
                guard record.transfer != nil || isLost, !record.isCompleted, record.goal != record.confirmed else {
                    continue
                }
                state.dirty.append(task.taskIdentifier)
            }
        }
        signal.send()
    }
}
