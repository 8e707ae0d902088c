import EideticCore
import EideticTransfer
import Glibc

extension BackgroundURLSession {
    /// Creates the task of a numbered file: the upload of `ROOT/uploads/NUMBER` if there is one, else a download.
    @MainActor
    func task(forFile number: Int, of base: String, root: String) throws(EideticError) -> TransferTask {
        let request = try Request(url: "\(base)/\(number)"), file = "\(root)/uploads/\(number)"
        guard access(file, F_OK) == 0 else { return try downloadTask(with: request, taskDescription: "\(number)") }
        return try uploadTask(with: request, fromFile: file, taskDescription: "\(number)")
    }
}

extension TransferTask {
    /// Records the end of the task; returns the lines that say so.
    @MainActor
    func completionLines(root: String, error: EideticError?) -> [String] {
        let outcome = error.map { "\($0.code)" } ?? "ok"
        let end = "completed \(taskDescription ?? "") \(taskIdentifier) \(getpid()) \(outcome)"
        return (recordUpload(root: root, error: error).map { [$0] } ?? []) + [end]
    }

    /// Creates the output file of an upload that has ended; returns the line that says so, `nil` for a download.
    @MainActor
    private func recordUpload(root: String, error: EideticError?) -> String? {
        guard self is UploadTask, error == nil else { return nil }
        let number = taskDescription ?? "", status = response?.statusCode ?? 0
        guard status == 201 else { return "status \(number) \(status)" }
        let file = open("\(root)/output/\(number)", O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
        guard file >= 0 else { return "missing \(number)" }
        close(file)
        return "moved \(number)"
    }
}
