public import EideticCore
public import FoundationEssentials

extension BackgroundURLSession {
    /// Creates a download; ``TransferTask/resume()`` starts it.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - taskDescription: A text that is kept with the task, at most 3,584 bytes of UTF-8; `nil` by default.
    /// - Returns: The task.
    /// - Throws: `invalidArgument` for a request that cannot be sent; `refused` if the session is invalidated, or
    ///   its error after the delegate was told of it.
    public func downloadTask(with request: Request, taskDescription: String? = nil) throws(EideticError) -> DownloadTask
    {
        let record = try makeRecord(for: request, text: taskDescription)
        return try core.add(DownloadTask(record: record))
    }

    /// Creates a download that resumes a cancelled one from its resume data.
    ///
    /// The received part is used if the transfer process still has it, and the server's file is unchanged; otherwise
    /// the download starts from the beginning.
    ///
    /// - Parameters:
    ///   - data: The data of ``DownloadTask/cancelByProducingResumeData()``.
    ///   - taskDescription: A text that is kept with the task, at most 3,584 bytes of UTF-8; `nil` by default.
    /// - Returns: The task.
    /// - Throws: `invalidArgument` for invalid resume data; `refused` if the session is invalidated, or its error after
    ///   the delegate was told of it.
    public func downloadTask(
        withResumeData data: some ContiguousBytes,
        taskDescription: String? = nil
    ) throws(EideticError) -> DownloadTask {
        let resumption = try ResumableRequest(data.withUnsafeBytes { Array($0) })
        let record = try makeRecord(for: resumption.request, text: taskDescription) { $0.resumeData = resumption.data }
        return try core.add(DownloadTask(record: record))
    }

    /// Creates an upload of a file; ``TransferTask/resume()`` starts it.
    ///
    /// The file is copied when the task is handed over, and may be changed or removed after that.
    ///
    /// - Parameters:
    ///   - request: The request; its method is `PUT` if it is `GET`.
    ///   - path: The absolute path of a regular file.
    ///   - taskDescription: A text that is kept with the task, at most 3,584 bytes of UTF-8; `nil` by default.
    /// - Returns: The task.
    /// - Throws: `invalidArgument` for a request that cannot be sent; `refused` if the session is invalidated, or
    ///   its error after the delegate was told of it.
    public func uploadTask(
        with request: Request,
        fromFile path: String,
        taskDescription: String? = nil
    ) throws(EideticError) -> UploadTask {
        guard path.hasPrefix("/"), !path.utf8.contains(0) else {
            throw EideticError(.invalidArgument, message: "\"\(path)\" is not an absolute path")
        }
        let record = try makeRecord(for: request, text: taskDescription) { $0.uploadedFile = path }
        return try core.add(UploadTask(record: record))
    }

    private func makeRecord(
        for request: Request,
        text: String?,
        change: (inout TaskDescriptor) -> Void = { _ in }
    ) throws(EideticError) -> TaskRecord {
        try request.validate()
        guard (text?.utf8.count ?? 0) <= TaskNote.maximumTextLength else {
            let message = "a task description has at most \(TaskNote.maximumTextLength) bytes"
            throw EideticError(.invalidArgument, message: message)
        }
        var descriptor = TaskDescriptor(identifier: .random(in: 1...UInt64(Int64.max)), request: request)
        descriptor.text = text
        change(&descriptor)
        return TaskRecord(descriptor: descriptor, session: core)
    }
}
