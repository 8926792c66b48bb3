import KelvinCommands

CommandLineTool.main()
