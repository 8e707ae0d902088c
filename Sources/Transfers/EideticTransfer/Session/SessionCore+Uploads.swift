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
        withState { $0.tasks.beginUploads(uploads) }
        Task {
            do throws(EideticError) {
                try await addMissing(among: uploads, to: service)
                finish(uploads, isLost: false)
            } catch {
                finish(uploads, isLost: true)
            }
        }
    }

    private func finish(_ uploads: [TransferTask], isLost: Bool) {
        withState { $0.tasks.endUploads(uploads, isLost: isLost) }
        signal.send()
    }
}
