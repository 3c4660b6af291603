"""What would change the answer: objectives relaxed, inputs varied, assumptions dropped one by one."""
