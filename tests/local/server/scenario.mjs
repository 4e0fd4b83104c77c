// One order, from registration to its history, through the JavaScript SDK: node scenario.mjs ENDPOINT
import assert from "node:assert/strict";
import {
  SWFClient,
  GetWorkflowExecutionHistoryCommand,
  ListClosedWorkflowExecutionsCommand,
  PollForActivityTaskCommand,
  PollForDecisionTaskCommand,
  RegisterActivityTypeCommand,
  RegisterDomainCommand,
  RegisterWorkflowTypeCommand,
  RespondActivityTaskCompletedCommand,
  RespondDecisionTaskCompletedCommand,
  SignalWorkflowExecutionCommand,
  StartWorkflowExecutionCommand,
} from "@aws-sdk/client-swf";

const swf = new SWFClient({
  endpoint: process.argv[2],
  region: "eu-west-1",
  credentials: { accessKeyId: "AKID", secretAccessKey: "secret" },
});
const domain = "shop";
const began = new Date(Date.now() - 60_000);
const send = (command) => swf.send(command);

await send(new RegisterDomainCommand({ name: domain, workflowExecutionRetentionPeriodInDays: "7" }));
await assert.rejects(
  send(new RegisterDomainCommand({ name: domain, workflowExecutionRetentionPeriodInDays: "7" })),
  (error) => error.name === "DomainAlreadyExistsFault" && error.message === domain,
);
await send(
  new RegisterWorkflowTypeCommand({
    domain,
    name: "order",
    version: "1",
    defaultTaskList: { name: "deciders" },
    defaultChildPolicy: "TERMINATE",
    defaultTaskStartToCloseTimeout: "30",
    defaultExecutionStartToCloseTimeout: "3600",
  }),
);
await send(
  new RegisterActivityTypeCommand({
    domain,
    name: "charge",
    version: "1",
    defaultTaskList: { name: "workers" },
    defaultTaskHeartbeatTimeout: "NONE",
    defaultTaskScheduleToStartTimeout: "NONE",
    defaultTaskScheduleToCloseTimeout: "NONE",
    defaultTaskStartToCloseTimeout: "NONE",
  }),
);

const pollDecision = () => send(new PollForDecisionTaskCommand({ domain, taskList: { name: "deciders" } }));
const waiting = pollDecision();
const { runId } = await send(
  new StartWorkflowExecutionCommand({
    domain,
    workflowId: "o-7",
    workflowType: { name: "order", version: "1" },
    input: "42",
  }),
);
const first = await waiting;
assert.equal(first.workflowExecution.runId, runId);
assert.ok(first.events[0].eventTimestamp instanceof Date);
await send(
  new RespondDecisionTaskCompletedCommand({
    taskToken: first.taskToken,
    decisions: [
      {
        decisionType: "ScheduleActivityTask",
        scheduleActivityTaskDecisionAttributes: {
          activityId: "a",
          activityType: { name: "charge", version: "1" },
          input: "42",
        },
      },
    ],
  }),
);
const task = await send(new PollForActivityTaskCommand({ domain, taskList: { name: "workers" } }));
assert.equal(task.input, "42");
await send(new RespondActivityTaskCompletedCommand({ taskToken: task.taskToken, result: "r-1" }));
await send(new SignalWorkflowExecutionCommand({ domain, workflowId: "o-7", signalName: "go" }));
const second = await pollDecision();
await send(
  new RespondDecisionTaskCompletedCommand({
    taskToken: second.taskToken,
    decisions: [
      {
        decisionType: "CompleteWorkflowExecution",
        completeWorkflowExecutionDecisionAttributes: { result: "done" },
      },
    ],
  }),
);
const closed = await send(
  new ListClosedWorkflowExecutionsCommand({ domain, startTimeFilter: { oldestDate: began } }),
);
assert.deepEqual(
  closed.executionInfos.map((info) => [info.execution.runId, info.closeStatus]),
  [[runId, "COMPLETED"]],
);
const history = await send(
  new GetWorkflowExecutionHistoryCommand({ domain, execution: { workflowId: "o-7", runId } }),
);
console.log(JSON.stringify(history.events.map((event) => event.eventType)));
